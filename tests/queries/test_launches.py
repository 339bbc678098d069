"""Cases of launch_stats, launch_summary and op_launch_delay, drawn and random."""

import random

import pytest
from queries import brute_launches
from queries.plans import plan
from queries.small_tables import completed
from seeds import seeds

from hta_sql.archive import Archive

# 0         10        20        30        40        50
# [==== 11 ====)                                         kernel launch, 14
#                 [= 12 =)                               copy launch, 8
#                           [======== 13 ========)       graph launch, 22
#                 [== 1 =)                               delay 16 - 14, 8 long
#                     [== 2 ==)                          copy, before the launch's end
#                                       [3)              before the graph launch's end, too
#                                                   [======= 4 =======)   delay 3
#                [= 5 ==)                                without a launch
LAUNCHES = """
    event_id  kind         name    stream  step  start_ns  end_ns  correlation  launch_id  launch_name       launch_start_ns  launch_end_ns
    1         computation  relu    7       3     16        24      21           11         cudaLaunchKernel  0                14
    2         memory       Memcpy  -       3     20        29      22           12         hipMemcpyAsync    16               24
    3         memory       Memset  7       -     38        41      23           13         cudaGraphLaunch   26               48
    4         computation  gemm    20      -     51        69      23           13         cudaGraphLaunch   26               48
    5         computation  relu    20      -     15        23      -            -          -                 -                -
"""  # noqa: E501


def test_each_activity_with_a_launch(gpu):
    gpu.expect(
        "launch_stats",
        """
        job  rank  event_id  launch_id  correlation  launch_name       name    device  stream  step
        j    0     1         11         21           cudaLaunchKernel  relu    0       7       3
        j    0     2         12         22           hipMemcpyAsync    Memcpy  0       -       3
        j    0     3         13         23           cudaGraphLaunch   Memset  0       7       -
        j    0     4         13         23           cudaGraphLaunch   gemm    0       20      -
    """,
        activities=LAUNCHES,
    )


def test_times_of_a_launch(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id  cpu_ns  gpu_ns  launch_delay_ns  is_short  is_runtime_outlier  is_delay_outlier
        1         14      8       2                true      false               false
        2         8       9       0                false     false               false
        3         22      3       0                true      false               false
        4         22      18      3                true      false               false
    """,
        activities=LAUNCHES,
    )


def test_cutoffs_are_not_yet_outliers(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id  is_runtime_outlier  is_delay_outlier
        1         false               false
        2         false               false
        3         true                false
        4         true                true
    """,
        activities=LAUNCHES,
        runtime_cutoff_ns=14,
        launch_delay_cutoff_ns=2,
    )
    for longer, outlying in [(0, "false"), (1, "true")]:
        gpu.expect(
            "launch_stats",
            f"""
            is_runtime_outlier  is_delay_outlier
            {outlying}          {outlying}
        """,
            activities=f"""
            start_ns           dur_ns  launch_id  launch_start_ns  launch_end_ns
            {150000 + 2 * longer}  5       1          0                {50000 + longer}
        """,
        )


def test_as_long_as_its_launch_is_not_short(gpu):
    for gpu_ns, short in [(4, "true"), (5, "false")]:
        gpu.expect(
            "launch_stats",
            f"""
            is_short
            {short}
        """,
            activities=f"""
            start_ns  dur_ns    launch_id  launch_start_ns  launch_end_ns
            10        {gpu_ns}  1          0                5
        """,
        )


def test_a_launch_counts_once(gpu):
    # 11: cpu 14, gpu 8, delay 2; 12: cpu 8, gpu 9, delay 0; 13: cpu 22, gpu 3 + 18, delay 0
    gpu.expect(
        "launch_summary",
        """
        job  rank  launch_count  activity_count  short_count  mean_cpu_ns  mean_gpu_ns
        j    0     3             4               2            15           13
    """,
        activities=LAUNCHES,
    )
    gpu.expect(
        "launch_summary",
        """
        p50_launch_delay_ns  p95_launch_delay_ns  max_launch_delay_ns
        0                    2                    2
    """,
        activities=LAUNCHES,
    )
    gpu.expect(
        "launch_summary",
        """
        runtime_outlier_count  delay_outlier_count  early_start_count
        1                      1                    0
    """,
        activities=LAUNCHES,
        runtime_cutoff_ns=14,
        launch_delay_cutoff_ns=1,
    )


def test_without_memory(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id
        1
        4
    """,
        activities=LAUNCHES,
        include_memory=False,
    )
    # Of the graph, only the kernel: it is shorter than the launch, and the first to start.
    gpu.expect(
        "launch_summary",
        """
        launch_count  activity_count  short_count  mean_cpu_ns  mean_gpu_ns  max_launch_delay_ns
        2             2               2            18           13           3
    """,
        activities=LAUNCHES,
        include_memory=False,
    )


def test_selected_launches(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id
        1
        2
    """,
        activities=LAUNCHES,
        only_steps=[3],
    )
    gpu.expect(
        "launch_summary",
        """
        launch_count  mean_cpu_ns
        2             11
    """,
        activities=LAUNCHES,
        only_steps=[3, 4],
    )
    for query in ("launch_stats", "launch_summary"):
        for nothing in ({"only_steps": [4]}, {"only_ranks": [1]}, {"only_jobs": ["k"]}):
            gpu.expect(query, "\nrank", activities=LAUNCHES, **nothing)
        gpu.expect(
            query,
            "\nrank",
            activities="""
            start_ns  dur_ns
            0         5
        """,
        )


def test_clocks_that_disagree(gpu):
    # 0         10        20
    #           [launch)          both launches
    #     [==)                    6 before the launch begins
    #               [===)         while it is being made
    gpu.expect(
        "launch_stats",
        """
        launch_id  launch_delay_ns
        1          0
        2          0
    """,
        activities=(
            early := """
        start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        4         7       1          10               18
        14        18      2          10               18
    """
        ),
    )
    gpu.expect(
        "launch_summary",
        """
        launch_count  early_start_count  max_launch_delay_ns
        2             1                  0
    """,
        activities=early,
    )


def test_launches_of_jobs_and_ranks(gpu):
    """Ids are those of a rank."""
    gpu.fill(
        [
            {
                "job": job,
                "rank": rank,
                "event_id": event_id,
                "start_ns": 10 * rank,
                "dur_ns": 5,
                "launch_id": 1,
                "launch_start_ns": 0,
                "launch_end_ns": 4,
            }
            for job in "ba"
            for rank in (10, 2)
            for event_id in (8, 7)
        ]
    )
    assert [
        (row["job"], row["rank"], row["event_id"], row["launch_delay_ns"])
        for row in gpu.run("launch_stats")
    ] == [
        (job, rank, event_id, 10 * rank - 4)
        for job in "ab"
        for rank in (2, 10)
        for event_id in (7, 8)
    ]
    assert [
        (row["job"], row["rank"], row["launch_count"], row["max_launch_delay_ns"])
        for row in gpu.run("launch_summary")
    ] == [(job, rank, 1, 10 * rank - 4) for job in "ab" for rank in (2, 10)]


# 0         10        20        30        40
# [===================== 1 aten::linear =====================)
#   [=========== 2 custom ============)
#      [====== 3 aten::mm ======)
#         |         |              |             |              launches 21, 22, 23, 24
#              [ k )     [= c =)       [==== k ====)     [ m )   activities 31 to 34
#                                                             |       24's second, 35
OPS = """
    event_id  cat       name          start_ns  end_ns  op_id
    1         cpu_op    aten::linear  0         60      -
    2         Operator  custom        2         37      1
    3         cpu_op    aten::mm      5         31      2
"""
IN_OPS = """
    event_id  kind         name  step  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns  op_id
    31        computation  k     1     14        18      21         9                10             3
    32        memory       c     1     24        30      22         19               20             3
    33        computation  k     1     38        50      23         34               35             2
    34        computation  m     2     56        60      24         48               49             1
    35        computation  n     2     61        62      24         48               49             1
"""  # noqa: E501


def test_operators_of_launches(gpu):
    # aten::mm: 21 and 22; of the first, 9 - 5 and 14 - 9.
    # aten::linear: 23, through custom, and 24; of the first, 34 - 0 and 38 - 34.
    gpu.expect(
        "op_launch_delay",
        """
        job  rank  operator      sequence       count  mean_op_to_launch_ns  mean_launch_to_kernel_ns
        j    0     aten::linear  k~|~m~|~n      1      34                    4
        j    0     aten::mm      k~|~c          1      4                     5
    """,  # noqa: E501
        activities=IN_OPS,
        ops=OPS,
    )


def test_selection_leaves_out_launches_but_no_operators(gpu):
    # aten::linear began in step 1; step 2 has its last launch only.
    gpu.expect(
        "op_launch_delay",
        """
        operator      sequence  count  mean_op_to_launch_ns  mean_launch_to_kernel_ns
        aten::linear  m~|~n     1      48                    8
    """,
        activities=IN_OPS,
        ops=OPS,
        only_steps=[2],
    )
    for nothing in ({"only_steps": [3]}, {"only_ranks": [1]}, {"only_jobs": ["k"]}):
        gpu.expect("op_launch_delay", "\nrank", activities=IN_OPS, ops=OPS, **nothing)


def test_launches_in_no_operator_of_aten(gpu):
    gpu.expect(
        "op_launch_delay",
        "\nrank",
        activities="""
        event_id  start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  op_id
        11        5         1       21         2                3              1
        12        6         1       22         2                3              2
        13        7         1       23         2                3              3
        14        8         1       24         2                3              4
        15        9         1       25         2                3              -
        16        9         1       -          -                -              5
        17        9         1       27         2                3              99
    """,
        ops="""
        event_id  cat              name       start_ns  end_ns  op_id
        1         cpu_op           custom     0         9       -
        2         cpu_op           my~aten::  0         9       1
        3         cpu_op           ATen::mm   0         9       -
        4         user_annotation  aten::mm   0         9       -
        5         cpu_op           aten::mm   0         9       -
    """,
    )


def test_through_many_operators(gpu):
    """However many lie between; an operator that is its own ancestor ends nothing but itself."""
    gpu.fill(
        [
            {
                "start_ns": 400,
                "dur_ns": 1,
                "launch_id": 500,
                "launch_start_ns": 300,
                "launch_end_ns": 310,
                "op_id": 299,
            },
            {
                "start_ns": 400,
                "dur_ns": 1,
                "launch_id": 501,
                "launch_start_ns": 300,
                "launch_end_ns": 310,
                "op_id": 300,
            },
        ],
        [{"event_id": 0, "name": "aten::mm", "start_ns": 0, "end_ns": 400}]
        + [
            {"event_id": at, "name": "custom", "start_ns": at, "end_ns": 400, "op_id": at - 1}
            for at in range(1, 300)
        ]
        + [{"event_id": 300, "name": "custom", "start_ns": 300, "end_ns": 400, "op_id": 300}],
    )
    assert [
        (row["operator"], row["count"], row["mean_op_to_launch_ns"])
        for row in gpu.run("op_launch_delay")
    ] == [("aten::mm", 1, 300)]


def test_a_call_of_many_activities(gpu):
    """A graph's, say; the time and memory it takes do not grow with their square."""
    many = 50_000
    gpu.fill(
        [
            {
                "name": "kmn"[at % 3],
                "start_ns": 20 + at,
                "dur_ns": 1,
                "launch_id": 5,
                "launch_start_ns": 4,
                "launch_end_ns": 9,
                "op_id": 1,
            }
            for at in range(many)
        ],
        [{"event_id": 1, "start_ns": 0, "end_ns": 10}],
    )
    [row] = gpu.run("op_launch_delay")
    assert row["sequence"] == " | ".join("kmn"[at % 3] for at in range(many))
    assert (row["count"], row["mean_launch_to_kernel_ns"]) == (1, 16)


def test_sequence_and_first_launch(gpu):
    # 0         10        20        30
    # [============ 1 ============)
    #     |  |                         launches 22 and 21 at 4, 23 at 7
    #               [a ) [b )          of 23 and 22, at 14 and 19
    #                    [c )          of 21, at 19 as well, by event_id before b
    # First is 21, of the two at 4 the lower id.
    gpu.expect(
        "op_launch_delay",
        """
        sequence       mean_op_to_launch_ns  mean_launch_to_kernel_ns
        a~|~c~|~b      4                     15
    """,
        activities="""
        event_id  name  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns  op_id
        33        b     19        22      22         4                5              1
        32        c     19        22      21         4                5              1
        40        a     14        17      23         7                8              1
    """,
        ops="""
        event_id  start_ns  end_ns
        1         0         28
    """,
    )


def test_calls_of_the_same_sequence(gpu):
    # aten::mm at 0, 100 and 200; the third has another sequence, the fourth is of another operator
    # means: (1 + 2) / 2, and (3 - 6) / 2: halves away from zero
    gpu.expect(
        "op_launch_delay",
        """
        operator   sequence   count  mean_op_to_launch_ns  mean_launch_to_kernel_ns
        aten::mm   k          2      2                     -2
        aten::add  k          1      5                     7
        aten::mm   k~|~k      1      4                     -4
    """,
        activities="""
        event_id  name  start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  op_id
        11        k     4         1       21         1                9              1
        12        k     96        1       22         102              109            2
        13        k     200       1       23         204              209            3
        14        k     201       1       24         206              209            3
        15        k     312       1       25         305              309            4
    """,
        ops="""
        event_id  name       start_ns  end_ns
        1         aten::mm   0         50
        2         aten::mm   100       150
        3         aten::mm   200       250
        4         aten::add  300       350
    """,
    )


def test_names_that_hold_the_separator(gpu):
    """Sequences that read the same are one row."""
    launch = {"dur_ns": 1, "launch_start_ns": 2, "launch_end_ns": 3}
    gpu.fill(
        [
            launch | {"name": "a | b", "start_ns": 5, "launch_id": 1, "op_id": 1},
            launch | {"name": "a", "start_ns": 5, "launch_id": 2, "op_id": 2},
            launch | {"name": "b", "start_ns": 6, "launch_id": 3, "op_id": 2},
        ],
        [{"event_id": at, "start_ns": 0, "end_ns": 9} for at in (1, 2)],
    )
    [row] = gpu.run("op_launch_delay")
    assert (row["sequence"], row["count"]) == ("a | b", 2)


def test_ids_are_those_of_a_rank(gpu):
    gpu.fill(
        [
            {
                "job": job,
                "rank": rank,
                "start_ns": 50,
                "dur_ns": 1,
                "launch_id": 9,
                "launch_start_ns": 20,
                "launch_end_ns": 21,
                "op_id": 2,
            }
            for job in "ba"
            for rank in (1, 0)
        ],
        [
            {
                "job": job,
                "rank": rank,
                "event_id": event_id,
                "start_ns": rank,
                "end_ns": 40,
                "name": name,
                "op_id": op_id,
            }
            for job in "ba"
            for rank in (1, 0)
            for event_id, name, op_id in [(1, f"aten::{job}{rank}", None), (2, "custom", 1)]
        ],
    )
    assert [
        (row["job"], row["rank"], row["operator"], row["count"], row["mean_op_to_launch_ns"])
        for row in gpu.run("op_launch_delay")
    ] == [(job, rank, f"aten::{job}{rank}", 1, 20 - rank) for job in "ab" for rank in (0, 1)]


def test_operators_of_other_ranks_are_not_read(make_archive):
    rows = [
        {"rank": rank, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1}
        for rank in range(4)
        for at in range(10)
    ]
    with Archive(make_archive(gpu_activities=rows, host_ops=rows)) as archive:
        read = [
            node["extra_info"]["Scanning Files"]
            for node in plan(archive.con, "FROM op_launch_delay_v1(only_ranks := [1])")
            if "op_id" in node["extra_info"].get("Projections", [])
            and "Scanning Files" in node["extra_info"]
        ]
    assert [files.partition("/")[0] for files in read] == ["1", "1"]


# Random ones.

SEEDS = range(6)
JOBS = 12  # in one table, so that many small cases cost a few calls
UNIX = 1_712_151_111_631_234_567  # more digits than a double holds
OP_NAMES = ("aten::mm", "aten::mm", "aten::add", "custom", "autograd::engine", "ATen::mm")
KINDS = ("computation", "communication", "memory")


def random_rank(rng, job, rank):
    """Activities, and operators in which they are launched; ids begin anew with each rank."""
    base, longest, names = rng.choice([0, UNIX]), rng.choice([0, 5, 20]), rng.choice(["k", "kkm"])
    ids = iter(rng.sample(range(1000), 1000))
    common = {"job": job, "rank": rank}
    ops, launches, activities = [], [], []
    size = rng.choice([0, 1, 4, 20])
    for _ in range(rng.randint(size // 2, 2 * size)):
        around = rng.choice([None, *ops])
        ops.append(
            common
            | {
                "event_id": next(ids),
                "cat": rng.choice(["cpu_op", "cpu_op", "Operator", "user_annotation"]),
                "name": rng.choice(OP_NAMES),
                "start_ns": (around["start_ns"] if around else base) + rng.randint(0, 10),
                "dur_ns": rng.randint(0, 50),
                "op_id": around and around["event_id"],
            }
        )
    for _ in range(1 + size):
        op = rng.choice([None, *ops, *ops])
        start_ns = (op["start_ns"] if op else base) + rng.randint(0, 5)
        launches.append(
            {
                "launch_id": next(ids),
                "correlation": rng.randint(0, 9),
                "launch_name": rng.choice(
                    ["cudaLaunchKernel", "hipLaunchKernel", "cudaGraphLaunch"]
                ),
                "launch_start_ns": start_ns,
                "launch_end_ns": start_ns + rng.randint(0, longest),
                "step": rng.choice([None, 1, 2, 12]),
                "op_id": op and op["event_id"],
            }
        )
    without = dict.fromkeys(launches[0])
    for _ in range(rng.randint(size, 2 * size)):
        launch = rng.choice([without, *launches, *launches])
        around_ns = launch["launch_start_ns"] or base
        activities.append(
            common
            | launch
            | {
                "event_id": next(ids),
                "device": rng.choice([None, 0, 1]),
                "stream": rng.choice([None, 0, 7]),
                "kind": rng.choice(KINDS),
                "name": rng.choice(names),
                "start_ns": around_ns + rng.randint(-8, 2 * longest),
                "dur_ns": rng.randint(0, longest),
            }
        )
    return activities, ops


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        for rank in rng.choice([[0], [0, 1, 3]]):
            of_rank = random_rank(rng, f"job{number}", rank)
            activities += of_rank[0]
            ops += of_rank[1]
    return {
        "gpu_activities": [completed("gpu_activities", row, 0) for row in activities],
        "host_ops": [completed("host_ops", row, 0) for row in ops],
    }


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 7)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    if query != "op_launch_delay":
        parameters |= {
            "runtime_cutoff_ns": rng.choice([0, 3, 10]),
            "launch_delay_cutoff_ns": rng.choice([0, 3, 10]),
            "include_memory": rng.choice([False, True]),
        }
    return {name: value for name, value in parameters.items() if rng.random() < 0.5}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_launches(gpu, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    for query in ("launch_stats", "launch_summary", "op_launch_delay"):
        for given in ({}, random_parameters(rng, query)):
            wanted = list(getattr(brute_launches, query)(*tables.values(), **given))
            gpu.compare(query, wanted, tables, seed, **given)


def test_random_launches_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    tables = [random_tables(random.Random(seed)) for seed in SEEDS]
    activities = [row for table in tables for row in table["gpu_activities"]]
    stats = list(brute_launches.launch_stats(activities, [], 10, 10))
    for flag in ("is_short", "is_runtime_outlier", "is_delay_outlier"):
        assert {row[flag] for row in stats} == {False, True}
    assert {row["step"] for row in stats} == {None, 1, 2, 12}
    assert {row["stream"] for row in stats} == {None, 0, 7}
    assert len(stats) < len(activities)
    summaries = [row for table in tables for row in brute_launches.launch_summary(*table.values())]
    assert any(row["launch_count"] < row["activity_count"] for row in summaries)
    assert any(row["early_start_count"] for row in summaries)
    delays = [row for table in tables for row in brute_launches.op_launch_delay(*table.values())]
    assert any(row["count"] > 1 for row in delays)
    assert any(" | " in row["sequence"] and row["count"] > 1 for row in delays)
    assert any(row["mean_launch_to_kernel_ns"] < 0 for row in delays)
    through = 0
    for table in tables:
        op_of = {(op["job"], op["rank"], op["event_id"]): op for op in table["host_ops"]}
        for row in table["gpu_activities"]:
            op = brute_launches.innermost_aten(op_of, row["job"], row["rank"], row["op_id"])
            through += op is not None and op["event_id"] != row["op_id"]
    assert through > 20
