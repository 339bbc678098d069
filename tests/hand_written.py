"""Traces written by hand, for tests of ingest."""

import json
from collections.abc import Iterable
from pathlib import Path

import hta_sql
from hta_sql.archive import Archive


def span(name="op", ts=0, dur=1, cat="cpu_op", pid=1, tid=1, **args) -> dict:
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def trace_text(events: Iterable[dict | str], before: str = "", after: str = "") -> str:
    """A trace of events, given as dicts or as JSON text; `before` and `after` are other keys."""
    texts = [event if isinstance(event, str) else json.dumps(event) for event in events]
    body = ",\n  ".join(texts)
    return f'{{\n  {before}"traceEvents": [\n  {body}\n  ]{after}\n}}\n'


def ingested(folder: Path, content: str | bytes | dict, **options) -> Archive:
    """An archive of one trace, or of several given as {file name: content}."""
    files = content if isinstance(content, dict) else {"rank_0.json": content}
    traces = folder / "job"
    traces.mkdir(exist_ok=True)
    for name, text in files.items():
        (traces / name).write_bytes(text.encode() if isinstance(text, str) else text)
    summary = hta_sql.ingest(traces, folder / "archive", workers=1, **options)
    assert not summary.failed, summary
    return hta_sql.open(folder / "archive")


def without_checksums(archive: Path, rows: Iterable[dict]) -> list[dict]:
    """The rows of a manifest for a test that writes files itself, as if an earlier version had."""
    for seal in archive.glob(".*.parquet.sha256"):
        seal.unlink()
    return [row | {"files": None} for row in rows]


def rows(archive: Archive, sql: str) -> list[tuple]:
    return [tuple(row.values()) for row in archive.sql(sql).to_pylist()]
