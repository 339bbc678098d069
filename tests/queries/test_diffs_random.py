"""Differences of random jobs, against plain Python."""

import math
import random
from typing import Any

import pytest
from queries import brute_diffs
from queries.diffs import Rows
from queries.small_tables import SmallTables, same
from seeds import seeds


def random_tables(seed: int) -> dict[str, Rows]:
    """Two or three jobs of up to two ranks, some without steps, with ties, overlaps and zeros."""
    rng, words = random.Random(seed), random.Random(seed)
    tables: dict[str, Rows] = {"gpu_activities": [], "host_ops": [], "traces": []}
    for job in ["a", "b", "c"][: rng.choice([2, 2, 3])]:
        has_steps = rng.random() < 0.7
        for rank in range(rng.choice([1, 1, 2])):
            tables["traces"].append({"job": job, "rank": rank})
            steps = range(1, rng.randint(2, 8)) if has_steps else ()
            one_rank(rng, words, tables, job, rank, steps)
    return tables


def one_rank(
    rng: random.Random, words: random.Random, tables: dict[str, Rows], job: str, rank: int, steps
) -> None:
    """`words` draws the names that a category depends on."""
    ids = iter(range(1000))
    of_rank = {"job": job, "rank": rank}

    def host(name: str, cat: str, start: int, dur: int, step, root, **more) -> dict:
        event_id = next(ids)
        row = (
            of_rank
            | {
                "event_id": event_id,
                "name": name,
                "cat": cat,
                "start_ns": start,
                "dur_ns": dur,
                "step": step,
                "pid": "1",
                "root_id": event_id if root is None else root,
            }
            | more
        )
        tables["host_ops"].append(row)
        return row

    for at, step in enumerate([*steps, None]):
        begin, mark = 100 * at, None
        if step is not None:
            mark = host(f"ProfilerStep#{step}", "user_annotation", begin, 95, step, None)
        for tid in ("1", "2"):
            top = mark if tid == "1" else None
            for _ in range(rng.randint(0, 3)):
                start = begin + rng.randint(1, 60)
                stage = host(
                    rng.choice(["forward", "loss"]),
                    "user_annotation",
                    start,
                    rng.randint(0, 20),
                    step,
                    top and top["event_id"],
                    tid=tid,
                    parent_id=top and top["event_id"],
                    annotation_id=top and top["event_id"],
                    caller_id=mark["event_id"] if mark and not top and rng.random() < 0.5 else None,
                )
                inner = rng.random() < 0.6
                around = stage if inner else top
                op = host(
                    rng.choice([words.choice(["mm", "aten::convolution"]), "add"]),
                    "cpu_op",
                    start,
                    rng.randint(0, stage["dur_ns"]) if inner else rng.randint(0, 5),
                    step,
                    around and around["root_id"],
                    tid=tid,
                    parent_id=around and around["event_id"],
                    annotation_id=around and around["event_id"],
                    input_dims=rng.choice([None, "[[8]]", "[[9]]"]),
                )
                call = host(
                    "cudaLaunchKernel",
                    "cuda_runtime",
                    start,
                    0,
                    step,
                    op["root_id"],
                    tid=tid,
                    parent_id=op["event_id"],
                    op_id=op["event_id"],
                    annotation_id=op["annotation_id"],
                )
                for _ in range(rng.randint(0, 2)):
                    kind = rng.choice(["computation", "communication", "memory"])
                    short = kind[:3]
                    if kind == "computation":
                        short = words.choice(["com", "sgemm", "softmax"])
                    tables["gpu_activities"].append(
                        of_rank
                        | {
                            "event_id": next(ids),
                            "kind": kind,
                            "step": step,
                            "name": f"{short}<{rng.randint(1, 2)}>",
                            "short_name": short,
                            "device": rng.choice([0, 0, 1]),
                            "start_ns": begin + rng.randint(0, 90),
                            "dur_ns": rng.choice([0, 3, 3, rng.randint(1, 30)]),
                            "launch_id": call["event_id"] if rng.random() < 0.9 else None,
                            "op_id": op["event_id"],
                            "annotation_id": op["annotation_id"],
                        }
                    )


CHOICES: list[dict[str, Any]] = [
    {},
    {"base_job": "a", "test_job": "b"},
    {"base_job": "b", "test_job": "a"},
    {"base_job": "a", "test_job": "a", "base_steps": [1], "test_steps": [1, 2, 3]},
    {"base_job": "a", "test_job": "b", "base_ranks": [0], "test_ranks": [0, 1]},
    {"base_job": "b", "test_job": "b", "base_ranks": [0], "test_ranks": [1]},
]


VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("kernel_diff", {}),
    ("kernel_diff", {"short_names": True}),
    ("category_diff", {}),
    ("category_diff", {"by_kernel": True}),
    ("category_diff", {"by_kernel": True, "short_names": True}),
    ("op_diff", {}),
    ("op_diff", {"by_shape": True}),
    ("op_diff", {"only_cats": ["cpu_op"]}),
    ("annotation_diff", {}),
    ("temporal_diff", {}),
]


@pytest.mark.parametrize("seed", seeds(4))
def test_random_rows(compare: SmallTables, seed: int):
    tables = random_tables(seed)
    compare.fill(**tables)
    kept = {name: completed(compare, name) for name in tables}
    for chosen in CHOICES:
        wanted = [getattr(brute_diffs, query)(kept, **chosen, **more) for query, more in VARIANTS]
        for (query, more), rows in zip(VARIANTS, wanted, strict=True):
            columns = [column.name for column in compare.query(query).columns]
            ordered = [{name: row[name] for name in columns} for row in rows]
            compare.compare(query, ordered, tables, seed, **chosen, **more)


def completed(tables: SmallTables, name: str) -> Rows:
    """The rows as the queries see them, with ends and defaults."""
    result = tables.con.execute(f"FROM given_{name}")
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


@pytest.mark.parametrize("seed", seeds(8))
def test_random_steps(compare: SmallTables, seed: int):
    tables = random_tables(seed)
    compare.fill(**tables)
    kept = {name: completed(compare, name) for name in tables}
    for chosen in CHOICES:
        found = compare.run("step_diff", **chosen)
        wanted = brute_diffs.step_diff(kept, **chosen)
        assert [row["name"] for row in found] == [row["name"] for row in wanted]
        for row, want in zip(found, wanted, strict=True):
            plain = {name: want[name] for name in want if name not in ("diff", "noise")}
            assert same({name: row[name] for name in plain}, plain), (seed, chosen)
            low, high = row["diff_low_ns"], row["diff_high_ns"]
            if want["noise"] is None:
                assert low is None and high is None and row["is_significant"] is None
                continue
            assert math.isclose(low, want["diff"] - want["noise"], rel_tol=2e-3, abs_tol=1.01)
            assert math.isclose(high, want["diff"] + want["noise"], rel_tol=2e-3, abs_tol=1.01)
            if abs(abs(want["diff"]) - want["noise"]) > 1.01 + 2e-3 * want["noise"]:
                assert row["is_significant"] == (abs(want["diff"]) > want["noise"])
        assert compare.broken_promises("step_diff", **chosen) == []


@pytest.mark.parametrize("seed", seeds(6))
def test_the_same_on_both_sides_is_unchanged(compare: SmallTables, seed: int):
    compare.fill(**random_tables(seed))
    for query in (
        "kernel_diff",
        "category_diff",
        "op_diff",
        "annotation_diff",
        "temporal_diff",
        "module_diff",
        "collective_diff",
        "step_diff",
    ):
        for row in compare.run(query, base_job="a", test_job="a"):
            assert row["change"] == "unchanged"
            assert not row["diff_count"] and not row["diff_total_ns"]
        assert compare.broken_promises(query, base_job="a", test_job="a") == []
