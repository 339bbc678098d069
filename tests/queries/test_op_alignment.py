"""Two runs operator by operator: as drawn, and on random ones against plain Python."""

import random
from collections import Counter
from itertools import pairwise, product

import duckdb
import pytest
from queries.small_tables import SmallTables, completed
from queries.test_diff_causes import fill_large, grown_joins, nodes, profile

from hta_sql.database import alignment


@pytest.fixture(scope="module")
def small():
    tables = SmallTables(["op_alignment"])
    alignment.register(tables.con)
    return tables


# As drawn


def drawn(text: str) -> dict:
    """Two jobs, a line for each row of the result: relation, operators of the base and of the
    test as name:shape>kernel+kernel, with - for none."""
    tables = {"host_ops": [], "gpu_activities": [], "traces": [{"job": "a"}, {"job": "b"}]}
    for number, line in enumerate(text.strip().splitlines()):
        for job, words in zip("ab", line.split()[1:3], strict=True):
            if words == "-":
                continue
            operator, _, kernels = words.partition(">")
            name, _, shape = operator.partition(":")
            tables["host_ops"].append(
                {
                    "job": job,
                    "event_id": number,
                    "name": name,
                    "input_dims": shape or None,
                    "start_ns": 100 * number,
                    "dur_ns": 10 + number + (5 if job == "b" else 0),
                }
            )
            tables["gpu_activities"] += [
                {
                    "job": job,
                    "event_id": 1000 * number + i,
                    "op_id": number,
                    "name": f"void {k}()",
                    "short_name": k,
                    "start_ns": 100 * number + 9 * i,
                    "dur_ns": 7,
                }
                for i, k in enumerate(filter(None, kernels.split("+")))
            ]
    return tables


def aligned(small, text: str, **parameters) -> list[dict]:
    """The rows, once they are known to be as drawn."""
    small.fill(**drawn(text))
    rows = small.run("op_alignment", **parameters)
    assert small.broken_promises("op_alignment", **parameters) == []
    wanted = []
    for line in text.strip().splitlines():
        relation, *names = line.split()[:3]
        wanted.append(
            (
                relation,
                *(
                    None if name == "-" else name.partition(">")[0].partition(":")[0]
                    for name in names
                ),
            )
        )
    assert [(row["relation"], row["base_name"], row["test_name"]) for row in rows] == wanted
    return rows


def test_the_headers_drawing(small):
    aligned(
        small,
        """
        matched   mm:[8,8]    mm:[8,8]
        removed   mul:[8]     -
        matched   add:[8]     add:[8]
        inserted  -           clone:[8]
        reshaped  mm:[8,8]    mm:[8,16]
        renamed   gelu:[8,8]  silu:[8,8]
    """,
    )


def test_columns(small):
    rows = aligned(
        small,
        """
        matched   mm:[8]>gemm   mm:[8]>gemm
        renamed   mul:[8]>mul   div:[8]
        inserted  -             clone:[9]>copy
        matched   add           add
        removed   sub:[7]>x+y   -
    """,
    )  # Durations: 10 and the line in the base, 15 and the line in the test; kernels 7.
    names = (
        "base_dur_ns",
        "test_dur_ns",
        "diff_dur_ns",
        "base_kernel_count",
        "test_kernel_count",
        "base_kernel_ns",
        "test_kernel_ns",
        "diff_kernel_ns",
    )
    assert [tuple(row[name] for name in names) for row in rows] == [
        (10, 15, 5, 1, 1, 7, 7, 0),
        (11, 16, 5, 1, 0, 7, 0, -7),
        (None, 17, None, None, 1, None, 7, 7),
        (13, 18, 5, 0, 0, 0, 0, 0),
        (14, None, None, 2, None, 14, None, -14),
    ]
    names = (
        "position",
        "base_input_dims",
        "test_input_dims",
        "base_rank",
        "test_rank",
        "base_event_id",
        "test_event_id",
        "base_kernels",
        "test_kernels",
        "kernel_change",
    )
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, "[8]", "[8]", 0, 0, 0, 0, "gemm", "gemm", "same"),
        (2, "[8]", "[8]", 0, 0, 1, 1, "mul", None, "removed"),
        (3, None, "[9]", None, 0, None, 2, None, "copy", "added"),
        (4, None, None, 0, 0, 3, 3, None, None, None),
        (5, "[7]", None, 0, None, 4, None, "x | y", None, "removed"),
    ]


@pytest.mark.parametrize(
    ("base", "test", "change"),
    [
        ("", "", None),
        ("gemm", "gemm", "same"),
        ("gemm", "other", "replaced"),
        ("", "gemm", "added"),
        ("gemm", "", "removed"),
        ("a+b", "a+b", "same"),
        ("a+b", "b+a", "replaced"),
        ("a", "a+a", "replaced"),
    ],
)
def test_kernel_changes(small, base, test, change):
    [row] = aligned(small, f"matched mm:[8]>{base} mm:[8]>{test}")
    assert row["kernel_change"] == change


def test_kernels_of_an_operator_within_are_not_its_own(small):
    tables = drawn("matched mm:[8] mm:[8]")
    tables["host_ops"] += [
        {
            "job": job,
            "event_id": 50,
            "name": "inner",
            "start_ns": 5,
            "dur_ns": 1,
            "parent_id": 0,
            "op_id": 0,
        }
        for job in "ab"
    ]
    tables["gpu_activities"] = [
        {"job": job, "event_id": 90, "name": "k", "op_id": 50, "start_ns": 7, "dur_ns": 1}
        for job in "ab"
    ] + [{"job": "a", "event_id": 91, "name": "of none", "start_ns": 9, "dur_ns": 1}]
    small.fill(**tables)
    assert [
        (row["base_name"], row["base_kernels"], row["test_kernel_count"])
        for row in small.run("op_alignment")
    ] == [("mm", None, 0), ("inner", "k", 1)]


def test_an_operator_more_in_each_layer(small):
    layer = "matched norm:[8] norm:[8]\nmatched mm:[8] mm:[8]\n"
    aligned(small, (layer + "inserted - clone:[8]\nmatched add:[8] add:[8]\n") * 6)
    aligned(small, (layer + "removed clone:[8] -\nmatched add:[8] add:[8]\n") * 6)
    aligned(
        small,
        "matched first first\n"
        + layer * 3
        + """
        removed norm:[8] -
        removed mm:[8] -
        matched last last
    """.lstrip(),
    )


def test_renamed_without_shapes(small):
    """Where just as many are left on both sides."""
    aligned(
        small,
        """
        matched   a  a
        renamed   b  x
        renamed   c  y
        matched   d  d
    """,
    )
    aligned(
        small,
        """
        matched   a  a
        removed   b  -
        inserted  -  x
        inserted  -  y
        matched   d  d
    """,
    )


def test_renamed_with_shapes(small):
    """Where theirs are the same, however many are left."""
    aligned(
        small,
        """
        matched   a:[1]  a:[1]
        renamed   b:[2]  x:[2]
        inserted  -      y:[3]
        renamed   c:[4]  z:[4]
        matched   d:[1]  d:[1]
    """,
    )
    aligned(
        small,
        """
        removed   b:[2]  -
        inserted  -      x:[3]
    """,
    )


def test_names_alone_where_one_has_no_shapes(small):
    aligned(
        small,
        """
        matched   a:[1]  a
        matched   b:[2]  b
        removed   c:[3]  -
        matched   a:[5]  a
        renamed   d:[5]  e
    """,
    )


def test_reshaped_before_renamed(small):
    """A pair of one name leaves what is around it apart."""
    aligned(
        small,
        """
        removed   b:[1]  -
        reshaped  a:[2]  a:[3]
        inserted  -      c:[1]
    """,
    )


def test_nothing_in_common(small):
    aligned(small, "removed a:[1] -\nremoved b:[1] -\ninserted - c:[2]")
    aligned(small, "inserted - c:[2]")
    aligned(small, "removed c:[2] -")


def test_empty(small):
    small.fill()
    assert small.run("op_alignment") == []
    assert small.run("op_alignment", base_ranks=[3], test_steps=[1]) == []
    small.fill(traces=[{"job": "a"}, {"job": "b"}])
    assert small.run("op_alignment") == []
    small.fill(**drawn("matched a a"))
    assert small.run("op_alignment", base_ranks=[], test_ranks=[9]) == []


def test_threads_follow_one_another(small):
    """First that of the step, then by their first operators; each in the order of its own, and of
    those that begin at once the longer first."""
    host_ops = [
        {
            "job": job,
            "event_id": number,
            "cat": cat,
            "name": name,
            "tid": tid,
            "start_ns": at,
            "dur_ns": dur_ns,
            "step": 0,
        }
        for job in "ab"
        for number, (cat, name, tid, at, dur_ns) in enumerate(
            [
                ("cpu_op", "late 1", "8", 20, 5),
                ("cpu_op", "early 1", "9", 1, 5),
                ("cpu_op", "early 2", "9", 90, 5),
                ("cpu_op", "main 2", "7", 30, 5),
                ("cpu_op", "main 1", "7", 30, 50),
                ("cpu_op", "late 2", "8", 50, 5),
                ("user_annotation", "ProfilerStep#0", "7", 10, 90),
                ("python_function", "no operator", "7", 11, 9),
                ("cuda_runtime", "nor", "7", 12, 1),
            ]
        )
    ]
    small.fill(host_ops=host_ops, traces=[{"job": "a"}, {"job": "b"}])
    assert [row["base_name"] for row in small.run("op_alignment")] == [
        "main 1",
        "main 2",
        "early 1",
        "early 2",
        "late 1",
        "late 2",
    ]


def test_which_ranks_and_steps(small):
    """The first step of the lowest rank, the whole trace of one without steps; or those chosen."""
    host_ops = [
        {
            "job": job,
            "rank": rank,
            "step": step,
            "event_id": 10 * number + rank + i,
            "cat": cat,
            "name": name,
            "start_ns": 100 * number + i,
            "dur_ns": 50,
        }
        for job in "ab"
        for rank in (1, 2)
        for number, step in enumerate((None, 4, 5))
        for i, (cat, name) in enumerate(
            [("cpu_op", f"{job} {rank} {step}"), ("user_annotation", f"ProfilerStep#{step}")]
        )
        if job == "a" or cat == "cpu_op"
    ]
    small.fill(
        host_ops=host_ops, traces=[{"job": job, "rank": rank} for job in "ab" for rank in (2, 1)]
    )

    def names(**parameters):
        rows = small.run("op_alignment", **parameters)
        base = [row["base_name"] for row in rows if row["base_name"]]
        return base, [row["test_name"] for row in rows if row["test_name"]]

    assert names() == (["a 1 4"], ["b 1 None", "b 1 4", "b 1 5"])
    assert names(base_ranks=[2, 1], test_ranks=[2], test_steps=[5, 4, 9]) == (
        ["a 1 4", "a 2 4"],
        ["b 2 4", "b 2 5"],
    )
    assert names(base_job="a", test_job="a", base_steps=[5]) == (["a 1 5"], ["a 1 4"])
    assert names(base_job="b", test_job="a") == (["b 1 None", "b 1 4", "b 1 5"], ["a 1 4"])
    with pytest.raises(duckdb.InvalidInputException, match="no job 'x'"):
        names(base_job="x")


def test_a_shell_says_that_it_cannot():
    """But of lists without anything in common it knows."""
    con = SmallTables(["op_alignment"]).con

    def found(base, test):
        return con.execute(
            "SELECT longest_common_subsequence(?::BIGINT[], ?::BIGINT[])", [base, test]
        ).fetchone()[0]

    with pytest.raises(duckdb.InvalidInputException, match="hta-sql run op_alignment ARCHIVE"):
        found([1, 2], [2, 3])
    assert found([1, 2], [3]) == found([], [1]) == found([], []) == []
    alignment.register(con)
    assert found([1, 2], [2, 3]) == [{"base_place": 2, "test_place": 1}]
    assert found([], []) == []


# Random ones, in plain Python


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


@pytest.mark.parametrize("seed", range(6))
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


# How it runs


@pytest.fixture(scope="module")
def large():
    tables = SmallTables(["op_alignment"])
    alignment.register(tables.con)
    fill_large(tables.con)
    return tables


@pytest.mark.parametrize(
    "given",
    [
        "",
        f"base_steps := {list(range(20))}, test_steps := {list(range(20))}",
        "base_job := 'a', test_job := 'b', base_ranks := [0, 1], test_ranks := [0, 1]",
    ],
)
def test_joins(large, tmp_path, given):
    root = profile(large.con, f"FROM op_alignment_v1({given})", tmp_path / "profile.json")
    assert grown_joins(root) == []
    # No join finds its rows by one of two equalities, to test the other.
    assert max(node["intermediate_rows"] for node in nodes(root)) <= 250_000


def test_the_large_ones_changes_are_found(large):
    relations = Counter(row["relation"] for row in large.run("op_alignment"))
    assert relations["matched"] > 900 and relations["inserted"] > 5 and relations["reshaped"] > 5
