"""Cases of call_stack and folded_stacks; then both on random rows, in plain Python."""

import random
import shutil
import subprocess
from collections import Counter
from zlib import crc32

import duckdb
import pytest
from click.testing import CliRunner
from queries import brute_stacks
from queries.plans import bad_joins
from seeds import seeds

import hta_sql
from hta_sql.cli import cli

# 0         10        20        30        40
# [= 1 step ==============================)       main thread
#  [2 linear)                                     a module
#    [3 addmm)
#      [4)                                        launches 104
#                [= 5 ## backward ## ========)
#                  [6)                            of the main thread
#                    [= 7 evaluate =====)         autograd thread
#                      [= 8 mm ====)
#                        [9)  [10)                launch 109 and 110
#                                          [11)   in another step
STEP = """
    event_id  cat              name            tid  start_ns  end_ns  step  depth  parent_id  root_id  caller_id  forward_id  stack_hash
    1         user_annotation  step            1    0         44      5     0      -          1        -          -           1
    2         python_function  linear          1    1         13      5     1      1          1        -          -           12
    3         cpu_op           addmm           1    3         12      5     2      2          1        -          -           123
    4         cuda_runtime     launch          1    5         8       5     3      3          1        -          -           1234
    5         user_annotation  ##~backward~##  1    15        43      5     1      1          1        -          -           15
    6         cpu_op           ones            1    17        20      5     2      5          1        -          -           156
    7         cpu_op           evaluate        2    19        39      5     0      -          7        5          3           7
    8         cpu_op           mm              2    21        35      5     1      7          7        -          3           78
    9         cuda_runtime     launch          2    23        26      5     2      8          7        -          3           789
    10        cuda_runtime     launch          2    28        31      5     2      8          7        -          3           789
    11        cpu_op           later           1    46        50      6     0      -          11       -          -           11
"""  # noqa: E501 - as wide as it is
THREE = """
    event_id  name   short_name  start_ns  dur_ns  launch_id  step
    104       gemm   gemm        20        10      4          5
    109       gemm   gemm        40        7       9          5
    110       k<1>   k           50        5       10         5
    111       alone  alone       60        2       -          -
"""


def related(host, of_event, **given):
    """(relation, event_id) of each row."""
    rows = host.run("call_stack", of_event=of_event, **given)
    return [(row["relation"], row["event_id"]) for row in rows]


def folded(host, **given):
    return {row["stack"]: row["weight_ns"] for row in host.run("folded_stacks", **given)}


# call_stack


def test_of_a_kernel_of_the_backward_pass(host):
    host.expect(
        "call_stack",
        """
        job  rank  event_id  relation          depth  height  parent_id  tid  kernel_count  kernel_ns
        j    0     1         ancestor          0      5       -          1    3             22
        j    0     5         ancestor          1      4       1          1    2             12
        j    0     7         ancestor          2      3       5          2    2             12
        j    0     8         ancestor          3      2       7          2    2             12
        j    0     9         ancestor          4      1       8          2    1             7
        j    0     109       self              5      0       9          -    1             7
        j    0     2         forward_ancestor  1      3       1          1    1             10
        j    0     3         forward           2      2       2          1    1             10
    """,  # noqa: E501
        activities=THREE,
        ops=STEP,
        of_event=109,
    )


def test_all_that_a_step_called(host):
    host.expect(
        "call_stack",
        """
        event_id  relation    depth  height  parent_id  kernel_count  kernel_ns
        1         self        0      5       -          3             22
        2         descendant  1      3       1          1             10
        3         descendant  2      2       2          1             10
        4         descendant  3      1       3          1             10
        104       activity    4      0       4          1             10
        5         descendant  1      4       1          2             12
        6         descendant  2      1       5          0             0
        7         descendant  2      3       5          2             12
        8         descendant  3      2       7          2             12
        9         descendant  4      1       8          1             7
        109       activity    5      0       9          1             7
        10        descendant  4      1       8          1             5
        110       activity    5      0       10         1             5
    """,
        activities=THREE,
        ops=STEP,
        of_event=1,
    )


def test_of_an_operator_of_the_backward_pass(host):
    host.expect(
        "call_stack",
        """
        event_id  relation          depth  name
        1         ancestor          0      step
        5         ancestor          1      ##~backward~##
        7         ancestor          2      evaluate
        8         self              3      mm
        9         descendant        4      launch
        109       activity          5      gemm
        10        descendant        4      launch
        110       activity          5      k<1>
        2         forward_ancestor  1      linear
        3         forward           2      addmm
    """,
        activities=THREE,
        ops=STEP,
        of_event=8,
    )


def test_of_a_forward_operator(host):
    host.expect(
        "call_stack",
        """
        event_id  relation
        1         ancestor
        2         ancestor
        3         self
        4         descendant
        104       activity
    """,
        activities=THREE,
        ops=STEP,
        of_event=3,
    )


def test_what_others_tell(host):
    host.fill(
        [
            {
                "event_id": 20,
                "launch_id": 1,
                "name": "gemm",
                "device": 1,
                "stream": 9,
                "start_ns": 5,
                "dur_ns": 3,
                "cat": "kernel",
            }
        ],
        [
            {
                "event_id": 1,
                "root_id": 1,
                "depth": 0,
                "cat": "cuda_runtime",
                "name": "launch",
                "pid": "7",
                "tid": "8",
                "start_ns": 1,
                "dur_ns": 2,
            }
        ],
    )
    told = ("cat", "name", "pid", "tid", "device", "stream", "start_ns", "dur_ns")
    assert [tuple(row[name] for name in told) for row in host.run("call_stack", of_event=1)] == [
        ("cuda_runtime", "launch", "7", "8", None, None, 1, 2),
        ("kernel", "gemm", None, None, 1, 9, 5, 3),
    ]


def test_of_an_activity_without_a_launch(host):
    host.expect(
        "call_stack",
        """
        event_id  relation  depth  height  parent_id  kernel_count  kernel_ns
        111       self      0      0       -          1             2
    """,
        activities=THREE,
        ops=STEP,
        of_event=111,
    )


@pytest.mark.parametrize("of_event", [0, 12, -1, None])
def test_of_no_event(host, of_event):
    host.fill(THREE, STEP)
    assert host.con.execute("FROM call_stack_v1(of_event := $1)", [of_event]).fetchall() == []


def test_several_activities_of_a_launch(host):
    """Of one of them, the others are none of its business; they come by their starts."""
    host.fill(
        """
        event_id  start_ns  dur_ns  launch_id
        21        9         1       1
        22        5         2       1
        23        5         3       1
    """,
        """
        event_id  start_ns  dur_ns  depth  root_id
        1         0         3       0      1
    """,
    )
    assert related(host, 1) == [("self", 1), ("activity", 22), ("activity", 23), ("activity", 21)]
    assert related(host, 22) == [("ancestor", 1), ("self", 22)]
    assert host.run("call_stack", of_event=22)[0]["kernel_count"] == 3


def test_other_threads_come_last(host):
    # [= 1 =============)     annotation
    #    [2) [3) [4)          of its thread
    #  [5)   [6)              another thread
    #     [7=)                a third one
    #                  [8)   not in 1
    host.expect(
        "call_stack",
        """
        event_id  depth
        1         0
        2         1
        3         1
        4         1
        5         1
        7         1
        6         1
    """,
        ops="""
        event_id  tid  start_ns  end_ns  depth  root_id  parent_id  caller_id
        1         1    0         18      0      1        -          -
        2         1    3         5       1      1        1          -
        3         1    7         9       1      1        1          -
        4         1    11        13      1      1        1          -
        5         2    1         3       0      5        -          1
        6         2    7         9       0      6        -          1
        7         3    4         8       0      7        -          1
        8         1    18        20      0      8        -          -
    """,
        of_event=1,
    )


def test_callers_that_end_at_once(host):
    # [= 1 ====)       the order is still that of a stack, as deep as each is
    #    [= 2 =)
    #    [4)           called by 2
    #  [5)             called by 1
    #          [3)     next to them
    host.expect(
        "call_stack",
        """
        event_id  depth  parent_id
        9         0      -
        1         1      9
        2         2      1
        4         3      2
        5         2      1
        3         1      9
    """,
        ops="""
        event_id  tid  start_ns  end_ns  depth  root_id  parent_id  caller_id
        9         1    0         20      0      9        -          -
        1         1    0         10      1      9        9          -
        2         1    3         10      2      9        1          -
        3         1    10        12      1      9        9          -
        4         2    3         5       0      4        -          2
        5         2    1         3       0      5        -          1
    """,
        of_event=9,
    )


def test_a_caller_that_was_crossed(host):
    # [= 1 ===========)
    #  [= 2 ===)          left the stack where 3 began
    #    [4)              called by 2
    #      [= 3 ===)
    host.expect(
        "call_stack",
        """
        event_id  depth  parent_id
        1         0      -
        2         1      1
        4         2      2
        3         1      1
    """,
        ops="""
        event_id  tid  start_ns  end_ns  depth  root_id  parent_id  caller_id  cut_ns
        1         1    0         16      0      1        -          -          -
        2         1    1         9       1      1        1          -          5
        3         1    5         13      1      1        1          -          -
        4         2    3         5       0      4        -          2          -
    """,
        of_event=1,
    )


def test_a_forward_operator_among_the_ancestors_is_one(host):
    """A forward pass that is run again inside of the backward pass."""
    host.fill(
        host_ops="""
        event_id  start_ns  end_ns  depth  root_id  parent_id  forward_id
        1         0         9       0      1        -          -
        2         1         8       1      1        1          1
    """
    )
    assert related(host, 2) == [("ancestor", 1), ("self", 2)]


def test_a_forward_pass_under_another_root(host):
    # [1 = [2 ==) )   [3 = [4 = ) )
    host.expect(
        "call_stack",
        """
        event_id  relation          depth
        3         ancestor          0
        4         self              1
        1         forward_ancestor  0
        2         forward           1
    """,
        ops="""
        event_id  start_ns  end_ns  depth  root_id  parent_id  forward_id
        1         0         9       0      1        -          -
        2         1         8       1      1        1          -
        3         10        19      0      3        -          -
        4         11        18      1      3        3          2
    """,
        of_event=4,
    )


SAME_IN_ALL = """
    job  rank  event_id  start_ns  dur_ns  depth  root_id
    j    0     1         0         3       0      1
    j    1     1         0         3       0      1
    k    0     1         0         3       0      1
    k    1     2         0         3       0      2
"""


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, [("j", 0), ("j", 1), ("k", 0)]),
        ({"of_rank": 0}, [("j", 0), ("k", 0)]),
        ({"of_rank": 1}, [("j", 1)]),
        ({"only_jobs": ["k"]}, [("k", 0)]),
        ({"of_rank": 1, "only_jobs": ["k"]}, []),
    ],
)
def test_ranks_of_a_call_stack(host, given, found):
    host.fill(
        host_ops=SAME_IN_ALL,
        gpu_activities="""
        job  rank  event_id  start_ns  dur_ns  launch_id
        j    0     9         0         3       1
        j    1     9         0         3       1
        k    0     9         0         3       1
    """,
    )
    rows = host.run("call_stack", of_event=1, **given)
    assert [(row["job"], row["rank"]) for row in rows if row["relation"] == "self"] == found
    assert [(row["job"], row["rank"]) for row in rows if row["relation"] == "activity"] == found
    assert {row["kernel_count"] for row in rows} <= {1}


@pytest.fixture
def deep(host):
    """A stack 5,000 deep, as no recursion of Python's is; its last call launches."""
    host.fill()
    host.con.execute("""
        INSERT INTO given_host_ops BY NAME
        SELECT
            'j' AS job, 0 AS rank, i AS event_id, 'f' || i % 10 AS name, 'python_function' AS cat,
            i AS start_ns, 20000 - i AS end_ns, end_ns - start_ns AS dur_ns, i AS depth,
            CASE WHEN i > 0 THEN i - 1 END AS parent_id, 0 AS root_id, i AS stack_hash
        FROM range(5000) AS t (i)
    """)
    host.con.execute("UPDATE given_host_ops SET cat = 'cuda_runtime' WHERE event_id = 4999")
    host.con.execute("""
        INSERT INTO given_gpu_activities BY NAME
        SELECT 'j' AS job, 0 AS rank, 9999 AS event_id, 4999 AS launch_id, 'k' AS short_name,
            30000 AS start_ns, 3 AS dur_ns
    """)
    return host


@pytest.mark.parametrize("of_event", [0, 9999])
def test_a_deep_call_stack(deep, of_event):
    rows = deep.run("call_stack", of_event=of_event)
    assert [row["depth"] for row in rows] == list(range(5001))
    assert [row["height"] for row in rows] == [*range(5000, 0, -1), 0]
    assert [row["event_id"] for row in rows] == [*range(5000), 9999]
    assert {row["kernel_ns"] for row in rows} == {3}


def test_deep_folded_stacks(deep):
    """As many stacks as levels, each as long as its level, would be a square."""
    stack = ";".join(f"f{i % 10}" for i in range(2000))
    assert folded(deep) == {f"{stack};…;k": 3}
    weights = folded(deep, weight="host")
    assert len(weights) == 2001
    assert weights[stack] == 2
    assert weights[f"{stack};…"] == 20000 - 2 * 2000
    assert sum(weights.values()) == 20000


# folded_stacks


def test_time_of_the_gpu(host):
    host.expect(
        "folded_stacks",
        """
        job  rank  stack                                        weight_ns
        j    0     step;linear;addmm;launch;gemm                10
        j    0     step;##~backward~##;evaluate;mm;launch;gemm  7
        j    0     step;##~backward~##;evaluate;mm;launch;k     5
        j    0     alone                                        2
    """,
        activities=THREE,
        ops=STEP,
    )


def test_time_of_the_host(host):
    # step: 44 - 12 - 28; backward: 28 - 3, as evaluate is of another thread
    host.expect(
        "folded_stacks",
        """
        stack                                   weight_ns
        step;##~backward~##                     25
        step;##~backward~##;evaluate;mm         8
        step;##~backward~##;evaluate            6
        step;##~backward~##;evaluate;mm;launch  6
        step;linear;addmm                       6
        later                                   4
        step                                    4
        step;##~backward~##;ones                3
        step;linear                             3
        step;linear;addmm;launch                3
    """,
        activities=THREE,
        ops=STEP,
        weight="host",
    )


def test_selected_steps(host):
    host.fill(THREE.replace("4          5", "4          6"), STEP)
    assert folded(host, only_steps=[6]) == {"step;linear;addmm;launch;gemm": 10}
    assert folded(host, only_steps=[6], weight="host") == {"later": 4}
    assert folded(host, only_steps=[7]) == folded(host, only_steps=[7], weight="host") == {}


def test_what_was_called_in_another_step_is_not_own_time(host):
    host.fill(
        host_ops="""
        event_id  name  start_ns  end_ns  step  depth  root_id  parent_id  stack_hash
        1         a     0         9       1     0      1        -          1
        2         b     5         8       2     1      1        1          12
    """
    )
    assert folded(host, only_steps=[1], weight="host") == {"a": 6}
    assert folded(host, only_steps=[2], weight="host") == {"a;b": 3}


def test_crossing_operations(host):
    # [= 1 =====)           left the stack at 6, where 3 began in it
    #   [2 )
    #       [= 3 ====)
    host.expect(
        "folded_stacks",
        """
        stack  weight_ns
        o;c    9
        o;a    7
        o      5
        o;a;b  3
    """,
        ops="""
        event_id  name  start_ns  end_ns  depth  root_id  parent_id  cut_ns  stack_hash
        0         o     0         20      0      0        -          -       1
        1         a     1         11      1      0        0          7       2
        2         b     3         6       2      0        1          -       3
        3         c     7         16      1      0        0          -       4
    """,
        weight="host",
    )


def test_ranks_and_jobs_of_folded_stacks(host):
    host.expect(
        "folded_stacks",
        """
        job  rank  stack  weight_ns
        i    0     c;k    4
        j    0     a;k    1
        j    1     b;k    2
    """,
        activities="""
        job  rank  name  start_ns  dur_ns  launch_id
        j    0     k     0         1       1
        j    1     k     0         2       1
        i    0     k     0         4       1
    """,
        ops="""
        job  rank  event_id  cat           name  start_ns  dur_ns  depth  root_id  stack_hash
        j    0     1         cuda_runtime  a     0         1       0      1        5
        j    1     1         cuda_runtime  b     0         1       0      1        5
        i    0     1         cuda_runtime  c     0         1       0      1        5
    """,
    )
    assert folded(host, only_jobs=["i"]) == {"c;k": 4}
    assert folded(host, only_ranks=[1]) == {"b;k": 2}
    assert folded(host, only_ranks=[1], weight="host") == {"b": 1}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a;b", "a:b"),
        ("a\nb\r\tc", "a b  c"),
        ("a\u0085b", "a b"),
        ("", "[unknown]"),
        (None, "[unknown]"),
        (" ", " "),
        ("a b 5", "a b 5"),
        ('"a", é', '"a", é'),
    ],
)
def test_names_in_folded_stacks(host, name, shown):
    op = {
        "event_id": 1,
        "cat": "cuda_runtime",
        "name": name,
        "start_ns": 0,
        "dur_ns": 3,
        "depth": 0,
        "root_id": 1,
        "stack_hash": 1,
    }
    host.fill([{"name": name, "start_ns": 0, "dur_ns": 1, "launch_id": 1}], [op])
    assert folded(host) == {f"{shown};{shown}": 1}
    assert folded(host, weight="host") == {shown: 3}
    assert host.broken_promises("folded_stacks") == []


def test_stacks_that_names_make_equal(host):
    host.expect(
        "folded_stacks",
        """
        stack  weight_ns
        a:b    5
    """,
        ops="""
        event_id  name  start_ns  dur_ns  depth  root_id  stack_hash
        1         a;b   0         2       0      1        1
        2         a:b   9         3       0      2        2
    """,
        weight="host",
    )


@pytest.mark.parametrize(("given", "says"), [("cpu", "'cpu'"), ("", "''"), (None, "NULL")])
def test_unknown_weight(host, given, says):
    host.fill()
    with pytest.raises(duckdb.InvalidInputException, match=f"'gpu' or 'host', not {says}$"):
        host.con.execute("FROM folded_stacks_v1(weight := $1)", [given]).fetchall()


# What the documentation tells to turn the rows into the lines that flame graphs are made of.
TO_LINES = r"""1d; s/^"([^"]|"")*",[^,]*,"(.*)",([0-9]+)$/\2 \3/; s/""/"/g"""


@pytest.mark.skipif(not shutil.which("sed"), reason="no sed")
@pytest.mark.parametrize("weight", ["gpu", "host"])
def test_lines_of_flame_graphs(demo_archive, weight):
    arguments = ["run", "folded_stacks", str(demo_archive), "--weight", weight, "--format", "csv"]
    rows = CliRunner().invoke(cli, arguments).stdout_bytes
    lines = subprocess.run(["sed", "-E", TO_LINES], input=rows, capture_output=True, check=True)
    with hta_sql.open(demo_archive) as run:
        wanted = [
            f"{row['stack']} {row['weight_ns']}"
            for row in run.folded_stacks(weight=weight).to_pylist()
        ]
    assert len(wanted) > 10
    assert lines.stdout.decode().splitlines() == wanted


def test_joins(host):
    host.fill(THREE, STEP)
    assert bad_joins(host.con, "FROM folded_stacks_v1(weight := 'host')") == []
    assert bad_joins(host.con, "FROM call_stack_v1(of_event := 5, of_rank := 0)") == []


# Random rows

NAMES = ("step", "a", "a;b", "a:b", "c\nd", "", None)
CATS = ("cpu_op", "user_annotation", "python_function", "cuda_runtime")
MAIN, SECOND_MAIN, AUTOGRAD, SECOND_AUTOGRAD = "1", "2", "3", "4"


def placed(spans):
    """Each span of one thread in the stack, by walking it: nested, crossing, empty, equal ones."""
    stack = []
    for span in sorted(spans, key=lambda s: (s["start_ns"], -s["end_ns"], s["event_id"])):
        start = span["start_ns"]

        def is_over(outer, span=span):
            both_empty = outer["start_ns"] == outer["end_ns"] == span["start_ns"] == span["end_ns"]
            return outer["end_ns"] <= span["start_ns"] and not both_empty

        while stack and (is_over(stack[-1]) or stack[-1]["end_ns"] < span["end_ns"]):
            outer = stack.pop()
            if outer["end_ns"] > start:
                outer["cut_ns"] = start
        names = [*(stack[-1]["names"] if stack else ()), span["name"]]
        span |= {
            "parent_id": stack[-1]["event_id"] if stack else None,
            "root_id": (stack or [span])[0]["event_id"],
            "depth": len(stack),
            "names": names,
            "stack_hash": crc32(repr(names).encode()),
        }
        stack.append(span)


def random_rank(rng, job, rank):
    ids = iter(rng.sample(range(90), 90))
    ops = []
    for tid in (MAIN, SECOND_MAIN, AUTOGRAD, SECOND_AUTOGRAD):
        spans = []
        for _ in range(rng.randrange(15)):
            start = rng.choice((0, 1, 2, 3, rng.randrange(20)))
            spans.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": next(ids),
                    "cat": rng.choice(CATS),
                    "name": rng.choice(NAMES),
                    "pid": "1",
                    "tid": tid,
                    "start_ns": start,
                    "end_ns": start + rng.choice((0, 1, 3, 9, 20, 25 - start)),
                    "cut_ns": None,
                    "caller_id": None,
                    "step": rng.choice((None, 1, 2)),
                }
            )
            spans[-1]["dur_ns"] = spans[-1]["end_ns"] - start
        placed(spans)
        ops += spans
    for op in ops:
        if op["depth"] == 0 and op["tid"] in (AUTOGRAD, SECOND_AUTOGRAD):
            # Of the main thread, whenever: the queries go by the link alone.
            op["caller_id"] = rng.choice(
                [
                    None,
                    *(
                        outer["event_id"]
                        for outer in ops
                        if outer["cat"] == "user_annotation" and outer["tid"] == MAIN
                    ),
                ]
            )
        op["forward_id"] = rng.choice([None, *(other["event_id"] for other in ops)])
        del op["names"]
    launches = [op["event_id"] for op in ops if op["cat"] == "cuda_runtime"]
    activities = []
    for _ in range(rng.randrange(8)):
        start, dur = rng.randrange(40), rng.choice((0, 1, 5))
        name = rng.choice(NAMES)
        activities.append(
            {
                "job": job,
                "rank": rank,
                "event_id": next(ids),
                "cat": "kernel",
                "name": name,
                "short_name": name,
                "device": rng.choice((None, 0, 1)),
                "stream": rng.choice((None, 0, 7)),
                "start_ns": start,
                "dur_ns": dur,
                "end_ns": start + dur,
                "launch_id": rng.choice([None, *launches]),
                "step": rng.choice((None, 1, 2)),
            }
        )
    return activities, ops


def random_rows(seed):
    rng = random.Random(seed)
    activities, ops = [], []
    for job, rank in (("j", 0), ("j", 1), ("k", 0)):
        of_rank = random_rank(rng, job, rank)
        activities += of_rank[0]
        ops += of_rank[1]
    return {"gpu_activities": activities, "host_ops": ops}


SELECTIONS = (
    {},
    {"only_ranks": [1]},
    {"only_jobs": ["k"]},
    {"only_steps": [1]},
    {"only_steps": [2], "only_ranks": [0]},
)


@pytest.mark.parametrize("seed", seeds(10))
def test_random_folded_stacks(host, seed):
    tables = random_rows(seed)
    given = {"weight": ("gpu", "host")[seed % 2]} | SELECTIONS[seed % len(SELECTIONS)]
    wanted = list(brute_stacks.folded_stacks(*tables.values(), **given))
    host.compare("folded_stacks", wanted, tables, seed, **given)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("seed", seeds(10))
def test_random_folded_stacks_that_are_too_deep(host, seed, most):
    tables = random_rows(seed)
    given = {"weight": ("gpu", "host")[seed % 2]}
    wanted = list(brute_stacks.folded_stacks(*tables.values(), **given, most=most))
    with host.replaced("most_frames", most):
        host.compare("folded_stacks", wanted, tables, seed, **given)


@pytest.mark.parametrize("seed", seeds(10))
def test_random_call_stacks(host, seed):
    tables = random_rows(seed)
    rng = random.Random(seed)
    event = rng.choice(tables["host_ops"] + tables["gpu_activities"])
    given = {"of_event": event["event_id"]} | rng.choice(({}, {"of_rank": event["rank"]}))
    wanted = list(brute_stacks.call_stack(*tables.values(), **given))
    host.compare("call_stack", wanted, tables, seed, **given)
    for of_event in rng.sample(range(90), 2):
        wanted = list(brute_stacks.call_stack(*tables.values(), of_event))
        assert host.run("call_stack", of_event=of_event) == wanted


def test_random_rows_are_worth_it():
    """They have what is easily wrong, and often."""
    seen = Counter()
    for seed in range(20):
        activities, ops = random_rows(seed).values()
        by_id = {(op["job"], op["rank"], op["event_id"]): op for op in ops}
        for op in ops:
            seen["deep"] += op["depth"] >= 4
            seen["cut"] += op["cut_ns"] is not None
            seen["empty"] += op["dur_ns"] == 0
            seen["called by another thread"] += op["caller_id"] is not None
            caller = by_id.get((op["job"], op["rank"], op["caller_id"]))
            if caller:
                seen["caller is called"] += caller["depth"] > 0
                seen["caller was cut"] += caller["cut_ns"] is not None
                seen["caller is empty"] += caller["dur_ns"] == 0
        for (_, _), rank in brute_stacks.ranks(activities, ops):
            for event in [*rank.ops, *rank.activities]:
                relations = Counter(row["relation"] for row in rank.call_stack(event))
                seen.update(relations)
                seen["forward pass and activities"] += (
                    relations["forward"] and relations["activity"] > 0
                )
        stacks = Counter(
            (row["job"], row["rank"], row["stack"])
            for row in brute_stacks.folded_stacks(activities, ops)
        )
        seen["stacks"] += len(stacks)
        seen["of several activities"] += len(activities) - len(stacks)
    rare = {"caller is empty": 1, "of several activities": 5, "caller was cut": 5}
    assert {what: n for what, n in seen.items() if n < rare.get(what, 20)} == {}
    assert len(seen) == 16
