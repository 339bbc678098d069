"""op_launch_delay over drawn operators."""

from queries.plans import plan

from hta_sql.archive import Archive

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
