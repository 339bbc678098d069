"""Execution traces written by hand, and how they break."""

import json
from pathlib import Path

from hand_written import rows, span, trace_text

import hta_sql

OLD = "1.0.1"


NEW = "1.1.1-chakra.0.0.4"


TENSOR = [6, 7, 0, 65536, 4, "cuda:0"]


def node(at: int, schema: str = OLD, **given) -> dict:
    """A node as PyTorch writes it: flat up to schema 1.0, with lists of attributes since 1.1."""
    facts = {
        "rf_id": at,
        "fw_parent": 0,
        "seq_id": -1,
        "scope": 0,
        "tid": 1,
        "fw_tid": 0,
        "op_schema": "aten::mm(Tensor self) -> Tensor",
    } | given
    name, parent = facts.pop("name", f"op{at}"), facts.pop("parent", 1)
    values = facts.pop("inputs", [TENSOR, 1])
    shapes, types = [[256, 256], []], ["Tensor(float)", "Int"]
    if schema == OLD:
        return (
            {"name": name, "id": at, "parent": parent}
            | facts
            | {
                "inputs": values,
                "input_shapes": shapes,
                "input_types": types,
                "outputs": [TENSOR],
                "output_shapes": shapes[:1],
                "output_types": types[:1],
            }
        )
    facts |= {"kernel_backend": "", "kernel_file": ""} | facts
    return {
        "id": at,
        "name": name,
        "ctrl_deps": parent,
        "inputs": {"values": values, "shapes": shapes, "types": types, "strides": [[256, 1], []]},
        "outputs": {
            "values": [TENSOR],
            "shapes": shapes[:1],
            "types": types[:1],
            "strides": [[256, 1]],
        },
        "attrs": [
            {"name": key, "type": "string" if isinstance(value, str) else "uint64", "value": value}
            for key, value in facts.items()
        ],
    }


def execution_trace(nodes, schema: str = OLD, pid: int = 7, behind: str = "") -> str:
    texts = [text if isinstance(text, str) else json.dumps(text) for text in nodes]
    return (
        f'{{\n  "schema": "{schema}", "pid": {pid}, "time": "2023-07-14 11:53:07", '
        f'"start_ts": 5,\n  "nodes": [\n    '
        + ",\n    ".join(texts)
        + f'\n  ],\n  "finish_ts": 9{behind}\n}}'
    )


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def write_trace(path: Path, pid: int = 1) -> Path:
    return write(path, trace_text([span(f"op{at}", ts=at, pid=pid) for at in range(3)]))


def ingested(folder: Path, text: str | bytes, name: str = "et_rank_0.json"):
    write(folder / "job" / name, text)
    summary = hta_sql.ingest(folder / "job", folder / "archive", workers=1)
    assert not summary.failed, summary
    return hta_sql.open(folder / "archive")


def attached(archive: Path) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return rows(run, "SELECT job, rank, kind, rank_source FROM attachments ORDER BY ALL")


# Damage.


def broken(kind: str, schema: str) -> str:
    """A node that is not whole, as text."""
    whole = json.dumps(node(9, schema))
    with_nan = json.dumps(node(9, schema, inputs=["N"])).replace('"N"', "nan")
    return {
        "no closing brace": whole[:-1],
        "no opening brace": whole[1:],
        "quote in a name": whole.replace("op9", 'say "hi" here'),
        "cut in a list": whole[:-60],
        "a key twice": whole.replace('"id"', '"id": 8, "id"', 1),
        "a key twice beside nan": with_nan.replace('"outputs"', '"outputs": 8, "outputs"'),
        "no id": whole.replace('"id"', '"di"', 1),
        "no whole id": whole.replace('"id": 9', '"id": 1.5'),
        "an id that is no number": whole.replace('"id": 9', '"id": [9]'),
        "a huge id": whole.replace('"id": 9', f'"id": {2**64}'),
        "no object": "[1, 2]",
        "null": "null",
        "bad UTF-8": whole.replace("op9", "op\udcff"),
    }[kind]
