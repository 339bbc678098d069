"""kernel_sequences: order, selection and names."""

import pytest


def test_operators_that_begin_together(gpu):
    # The longer is the outer one; of equal ones that with the lower id.
    gpu.expect(
        "kernel_sequences",
        """
        operator  count  host_ns  example_event_id
        op-long   1      9        2
        op-same1  1      5        8
        op-void1  1      0        5
    """,
        ops="""
        event_id  name      start_ns  end_ns
        1         op-short  0         4
        2         op-long   0         9
        9         op-same2  20        25
        8         op-same1  20        25
        6         op-void2  30        30
        5         op-void1  30        30
    """,
        operator="op-",
        min_length=0,
    )


def test_threads_are_apart(gpu):
    # One operator on each of three threads at the same time; one has no ids at all.
    gpu.expect(
        "kernel_sequences",
        """
        operator  sequence  count  example_event_id
        linear    none      1      3
        linear    one       1      1
        linear    two       1      2
    """,
        activities="""
        name  start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  launch_pid  launch_tid
        one   30        5       11         5                6              1           1
        two   31        5       12         5                6              1           2
        none  32        5       13         5                6              -           -
        lost  33        5       14         5                6              2           1
    """,
        ops="""
        event_id  name    start_ns  end_ns  pid  tid
        1         linear  0         10      1    1
        2         linear  0         10      1    2
        3         linear  0         10      -    -
    """,
        operator="linear",
        min_length=1,
    )


def test_order_of_activities(gpu):
    # By start and then by id, over devices and streams, known or not.
    gpu.expect(
        "kernel_sequences",
        """
        sequence             kernel_count  gpu_ns
        d~|~b~|~a~|~c        4             10
    """,
        activities="""
        event_id  name  device  stream  start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  launch_pid  launch_tid
        53        c     0       7       30        1       7          5                6              1           1
        52        a     1       0       30        2       7          5                6              1           1
        51        b     -       -       30        3       7          5                6              1           1
        54        d     0       20      29        4       7          5                6              1           1
        50        e     0       7       1         5       -          -                -              -           -
    """,  # noqa: E501
        ops="""
        event_id  name    start_ns  end_ns
        1         linear  0         10
    """,
        operator="linear",
    )


SAME_IDS = {
    "ops": """
        job  rank  event_id  name    start_ns  end_ns  step
        j    0     1         linear  0         10      1
        j    0     2         linear  20        30      2
        j    1     1         linear  0         10      1
        k    0     1         linear  0         10      1
    """,
    "activities": """
        job  rank  event_id  name  start_ns  dur_ns  step  launch_id  launch_start_ns  launch_end_ns  launch_pid  launch_tid
        j    0     7         a     40        1       1     5          5                6              1           1
        j    0     8         a     50        2       9     6          25               26             1           1
        j    1     7         b     40        3       1     5          5                6              1           1
        k    0     7         c     40        4       1     5          5                6              1           1
    """,  # noqa: E501
}


@pytest.mark.parametrize(
    ("only", "kept"),
    [
        ({}, ["j 0 a 2 3 1", "j 1 b 1 3 1", "k 0 c 1 4 1"]),
        ({"only_jobs": ["k"]}, ["k 0 c 1 4 1"]),
        ({"only_ranks": [1]}, ["j 1 b 1 3 1"]),
        # The operator's own step counts, not those of what it launched.
        ({"only_steps": [2]}, ["j 0 a 1 2 2"]),
        ({"only_steps": [9]}, []),
        ({"only_steps": []}, []),
    ],
)
def test_selection(gpu, only, kept):
    gpu.fill(SAME_IDS["activities"], SAME_IDS["ops"])
    rows = gpu.run("kernel_sequences", operator="linear", min_length=1, **only)
    columns = ("job", "rank", "sequence", "count", "gpu_ns", "example_event_id")
    assert [" ".join(str(row[c]) for c in columns) for row in rows] == kept


def test_an_operator_in_one_of_another_step_counts_where_only_its_step_is_selected(gpu):
    ops = """
        event_id  name    start_ns  end_ns  step
        1         linear  0         50      1
        2         linear  20        30      2
    """
    for only, found in [(None, 1), ([1], 1), ([2], 2), ([1, 2], 1)]:
        gpu.expect(
            "kernel_sequences",
            f"""
            operator  count  example_event_id
            linear    1      {found}
        """,
            ops=ops,
            operator="linear",
            min_length=0,
            only_steps=only,
        )


def test_frequent_ones_first(gpu):
    # a once, c and b twice: of equal counts by text
    calls = [("a", 0), ("c", 100), ("b", 200), ("c", 300), ("b", 400)]
    gpu.fill(
        [
            {
                "event_id": 50 + at,
                "name": name,
                "start_ns": at,
                "dur_ns": 1,
                "launch_id": at + 5,
                "launch_start_ns": at + 5,
                "launch_end_ns": at + 6,
                "launch_pid": "1",
                "launch_tid": "1",
            }
            for name, at in calls
        ],
        [{"event_id": at, "name": "linear", "start_ns": at, "dur_ns": 10} for _, at in calls],
    )
    rows = gpu.run("kernel_sequences", operator="linear", min_length=1)
    assert [(row["sequence"], row["count"]) for row in rows] == [("b", 2), ("c", 2), ("a", 1)]


def test_names_with_the_separator_or_none_at_all(gpu):
    # "x" and "y", and "x | y", read the same; an activity without a name has an empty one
    launch = {"launch_pid": "1", "launch_tid": "1", "dur_ns": 2}
    launched = [("x", 1), ("y", 2), ("x | y", 11), (None, 21), ("z", 22)]
    gpu.fill(
        [
            launch
            | {
                "event_id": 50 + at,
                "name": name,
                "start_ns": 40 + at,
                "launch_id": 60 + at,
                "launch_start_ns": at,
                "launch_end_ns": at + 1,
            }
            for name, at in launched
        ],
        [{"event_id": at, "name": "linear", "start_ns": at, "dur_ns": 9} for at in (0, 10, 20)],
    )
    rows = gpu.run("kernel_sequences", operator="linear", min_length=1)
    found = [(row["sequence"], row["count"], row["kernel_count"], row["gpu_ns"]) for row in rows]
    assert found == [("x | y", 2, 2, 6), (" | z", 1, 2, 4)]
    assert gpu.broken_promises("kernel_sequences", operator="linear", min_length=1) == []


def test_one_operator_with_very_many_activities(gpu):
    """Time and memory grow with the activities, not with their square."""
    gpu.fill()
    gpu.con.execute("""
        CREATE OR REPLACE TABLE given_gpu_activities AS
        SELECT * REPLACE (
            'j' AS job, 0 AS rank, i AS event_id, 'k' || i % 7 AS name, i AS start_ns, 1 AS dur_ns,
            i AS launch_id, '1' AS launch_pid, '1' AS launch_tid,
            i AS launch_start_ns, i + 1 AS launch_end_ns
        )
        FROM gpu_activities_schema() RIGHT JOIN range(200000) AS t (i) ON true
    """)
    gpu.con.execute("""
        CREATE OR REPLACE TABLE given_host_ops AS
        SELECT * REPLACE (
            'j' AS job, 0 AS rank, 1000000 AS event_id, 'cpu_op' AS cat, 'ProfilerStep' AS name,
            '1' AS pid, '1' AS tid, 0 AS start_ns, 300000 AS dur_ns, 300000 AS end_ns
        )
        FROM host_ops_schema() RIGHT JOIN range(1) ON true
    """)
    [row] = gpu.run("kernel_sequences", operator="Step")
    assert row["kernel_count"] == row["gpu_ns"] == 200_000
    assert row["sequence"].startswith("k0 | k1 | k2") and row["sequence"].count("k") == 200_000


def test_nothing(gpu):
    gpu.expect(
        "kernel_sequences",
        """
        job  rank  operator  sequence
    """,
        operator="linear",
    )
