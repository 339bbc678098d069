"""op_alignment of random jobs, against plain Python."""

import random
from collections import Counter
from itertools import pairwise, product

import pytest
from queries.small_tables import completed
from seeds import seeds


def longest(base: list, test: list) -> int:
    """The length of a longest common subsequence; None is like no other."""
    lengths = [[0] * (len(test) + 1) for _ in range(len(base) + 1)]
    for i, j in product(range(len(base)), range(len(test))):
        is_same = base[i] is not None and base[i] == test[j]
        lengths[i + 1][j + 1] = (
            lengths[i][j] + 1 if is_same else max(lengths[i][j + 1], lengths[i + 1][j])
        )
    return lengths[-1][-1]


def sequence(tables, job, ranks, steps) -> list[dict]:
    """The operators of a side in order."""
    ranks = ranks or [min(row["rank"] for row in tables["traces"] if row["job"] == job)]
    rows = [row for row in tables["host_ops"] if row["job"] == job and row["rank"] in ranks]
    marks = [row for row in rows if row["name"] and row["name"].startswith("ProfilerStep#")]
    if steps is None and marks:
        steps = [min(mark["step"] for mark in marks)]
    ops = [
        row for row in rows if row["cat"] == "cpu_op" and (steps is None or row["step"] in steps)
    ]

    def thread(row):
        return row["rank"], -1 if row["step"] is None else row["step"], row["pid"], row["tid"]

    first_ns = {}
    for row in ops:
        first_ns[thread(row)] = min(row["start_ns"], first_ns.get(thread(row), row["start_ns"]))
    of_steps = {thread(mark) for mark in marks}

    def place(row):
        rank, step, pid, tid = thread(row)
        return (
            rank,
            step,
            thread(row) not in of_steps,
            first_ns[thread(row)],
            pid is None,
            pid or "",
            tid is None,
            tid or "",
            row["start_ns"],
            -row["dur_ns"],
            row["event_id"],
        )

    return sorted(ops, key=place)


def drawn_tables(rng) -> dict:
    """Layers of operators, and the same ones with some taken out, put in, renamed or reshaped."""
    names = [f"op{i}" for i in range(rng.choice([1, 2, 4, 8]))] + [None]
    shapes = rng.choice([[None], ["[1]", "[2]"], ["[1]", "[2]", "[3]", None, None]])
    threads = rng.choice(
        [
            [("1", "1")] * 2,
            [("1", "1"), ("1", "2"), ("2", "1")],
            [("1", "1"), (None, None), ("1", None)],
        ]
    )
    layer = [(rng.choice(names), rng.choice(shapes)) for _ in range(rng.randint(1, 12))]
    layers = rng.choice([0, 1, 3, 5])
    ranks, steps = rng.choice([[0], [3, 1]]), rng.choice([[None], [7], [None, 3, 4]])
    are_marked = rng.random() < 0.8
    tables = {
        "host_ops": [],
        "gpu_activities": [],
        "traces": [{"job": job, "rank": rank} for job in "ab" for rank in ranks],
    }
    ids = iter(rng.sample(range(10_000), 10_000))
    for job, rank, step in product("ab", ranks, steps):
        common = {"job": job, "rank": rank, "step": step}
        now = rng.randint(0, 9)
        has_shapes = job == "a" or rng.random() < 0.9
        calls = layer * (layers + rng.choice([0, 0, 0, 1]))
        for _ in range(rng.choice([0, 2, 5, 9])):
            at = rng.randint(0, len(calls))
            calls[at : at + rng.randint(0, 2)] = [
                (rng.choice(names), rng.choice(shapes)) for _ in range(rng.randint(0, 2))
            ]
        if are_marked and step is not None:
            pid, tid = rng.choice(threads)
            tables["host_ops"].append(
                common
                | {
                    "event_id": next(ids),
                    "cat": "user_annotation",
                    "name": f"ProfilerStep#{step}",
                    "pid": pid,
                    "tid": tid,
                    "start_ns": now,
                    "dur_ns": 500,
                }
            )
        for name, dims in calls:
            pid, tid = rng.choice(threads) if rng.random() < 0.1 else threads[name is None]
            now += rng.randint(0, 3)
            operator = common | {
                "event_id": next(ids),
                "cat": rng.choice(["cpu_op"] * 9 + ["python_function"]),
                "name": name,
                "input_dims": dims if has_shapes else None,
                "pid": pid,
                "tid": tid,
                "start_ns": now,
                "dur_ns": rng.randint(0, 9),
            }
            tables["host_ops"].append(operator)
            tables["gpu_activities"] += [
                {
                    "job": job,
                    "rank": rank,
                    "event_id": next(ids),
                    "name": rng.choice("kkkl"),
                    "op_id": operator["event_id"],
                    "start_ns": now + rng.randint(0, 3),
                    "dur_ns": rng.randint(0, 9),
                }
                for _ in range(rng.choice([len(name or "") % 3, 0, 1, 2]))
            ]
    return {name: [completed(name, row, 0) for row in rows] for name, rows in tables.items()}


def gaps_of(pairs: list[tuple[int, int]], base: list, test: list) -> list[tuple[list, list]]:
    """What lies between pairs of places, before the first one and behind the last."""
    bounds = [(-1, -1), *pairs, (len(base), len(test))]
    return [(base[i + 1 : p], test[j + 1 : q]) for (i, j), (p, q) in pairwise(bounds)]


def checked(small, tables, seen: Counter, **parameters) -> None:
    """All that the header says of the rows, from what they say themselves."""
    given = {"base_job": "a", "test_job": "b"} | parameters
    base, test = (
        sequence(
            tables, given[f"{side}_job"], given.get(f"{side}_ranks"), given.get(f"{side}_steps")
        )
        for side in ("base", "test")
    )
    small.fill(**{name: random.sample(rows, len(rows)) for name, rows in tables.items()})
    rows = small.run("op_alignment", **parameters)
    assert small.broken_promises("op_alignment", **parameters) == []

    # Each one once, in the order of both; what has no partner behind the pair before it.
    for side, wanted in (("base", base), ("test", test)):
        there = [row for row in rows if row[f"{side}_event_id"] is not None]
        assert [
            (
                row[f"{side}_rank"],
                row[f"{side}_event_id"],
                row[f"{side}_name"],
                row[f"{side}_dur_ns"],
                row[f"{side}_input_dims"],
            )
            for row in there
        ] == [
            (row["rank"], row["event_id"], row["name"], row["dur_ns"], row.get("input_dims"))
            for row in wanted
        ]
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    relations = [row["relation"] for row in rows]
    assert ("inserted", "removed") not in pairwise(relations)

    # Pairs do not cross, as both sides are in order; these are their places.
    i = j = -1
    places = []
    for row in rows:
        i, j = i + (row["relation"] != "inserted"), j + (row["relation"] != "removed")
        places.append((i, j))

    def pairs(*kinds):
        return [at for at, kind in zip(places, relations, strict=True) if kind in kinds]

    both = all(any(row.get("input_dims") for row in side) for side in (base, test))
    names, shapes = zip(
        *[
            (
                [row["name"] or "" for row in side],
                [both and row.get("input_dims") or "" for row in side],
            )
            for side in (base, test)
        ],
        strict=True,
    )
    calls = [list(zip(*of_side, strict=True)) for of_side in zip(names, shapes, strict=True)]
    assert len(pairs("matched")) == longest(*calls)
    assert all(calls[0][i] == calls[1][j] for i, j in pairs("matched"))

    # Between matched ones as many as can be have the same name, then as many the same shapes.
    assert all(
        names[0][i] == names[1][j] and shapes[0][i] != shapes[1][j] for i, j in pairs("reshaped")
    )
    assert len(pairs("reshaped")) == sum(longest(*gap) for gap in gaps_of(pairs("matched"), *names))
    assert all(
        names[0][i] != names[1][j] and shapes[0][i] == shapes[1][j] for i, j in pairs("renamed")
    )
    named = pairs("matched", "reshaped")
    assert len(pairs("renamed")) == sum(
        longest(
            *(
                [shape if shape or len(left) == len(right) else None for shape in side]
                for side in (left, right)
            )
        )
        for left, right in gaps_of(named, *shapes)
    )

    launched = {}
    for row in sorted(tables["gpu_activities"], key=lambda row: (row["start_ns"], row["event_id"])):
        launched.setdefault((row["job"], row["rank"], row["op_id"]), []).append(row)
    for row in rows:
        kernels = {}
        for side in ("base", "test"):
            key = given[f"{side}_job"], row[f"{side}_rank"], row[f"{side}_event_id"]
            kernels[side] = own = launched.get(key, [])
            is_there = row[f"{side}_event_id"] is not None
            assert row[f"{side}_kernels"] == (" | ".join(one["name"] for one in own) or None)
            assert row[f"{side}_kernel_count"] == (len(own) if is_there else None)
            assert row[f"{side}_kernel_ns"] == (
                sum(one["dur_ns"] for one in own) if is_there else None
            )
        diff_ns = (row["test_kernel_ns"] or 0) - (row["base_kernel_ns"] or 0)
        assert row["diff_kernel_ns"] == diff_ns
        is_pair = row["relation"] not in ("inserted", "removed")
        assert row["diff_dur_ns"] == (row["test_dur_ns"] - row["base_dur_ns"] if is_pair else None)
        had, has = ([one["name"] for one in kernels[side]] for side in ("base", "test"))
        change = "same" if had == has else "replaced"
        change = ("added" if has else None) if not had else change if has else "removed"
        assert row["kernel_change"] == change
        seen[change] += 1
    seen.update(relations)
    seen["without shapes"] += not both and bool(rows)
    seen["several threads"] += len({(row["pid"], row["tid"]) for row in base}) > 2


GIVEN = [
    {"base_steps": [3]},
    {"base_ranks": [3], "test_ranks": [1, 3]},
    {"test_steps": [4, 3]},
    {"base_job": "b", "test_job": "a"},
    {"base_job": "a", "test_job": "a", "test_steps": [7]},
]


@pytest.mark.parametrize("seed", seeds(6))
def test_random_rows(small, seed):
    rng = random.Random(seed)
    seen = Counter()
    for _ in range(25):
        checked(small, drawn_tables(rng), seen, **rng.choice([{}, {}, {}, *GIVEN]))
    # They are worth it: all of this comes up, and often.
    assert min(seen[kind] for kind in ("matched", "removed", "inserted")) > 50, seen
    assert min(seen[kind] for kind in ("same", "replaced", "added")) > 5, seen
    kinds = ("reshaped", "renamed", "without shapes", "several threads")
    assert min(seen[kind] for kind in kinds) > 1, seen
