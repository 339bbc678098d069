"""sync_points: times of calls, and which are selected."""

import pytest
from queries.waits import QUERY


def test_calls_inside_calls_count_once_in_self_ns(host):
    """MTIA's runtime has one wait inside the other; a driver's call may be in a runtime's."""
    host.expect(
        QUERY,
        """
        name               count  host_ns  self_ns  wait_ns  gpu_busy_ns
        synchronizeStream  1      30       10       30       13
        synchronize        2      28       28       28       13
    """,
        ops="""
        event_id  cat           name               start_ns  end_ns
        1         mtia_runtime  synchronizeStream  0         30
        2         mtia_runtime  synchronize        5         25
        3         mtia_runtime  synchronize        40        48
    """,
        activities="""
        device  start_ns  end_ns
        0       10        20
        1       12        23
        -       50        90
    """,
    )


def test_spans_of_no_length_and_of_one_span(host):
    # The equal ones are inside each other; so are the two of no length.
    host.expect(
        QUERY,
        """
        name  kind      count  host_ns  self_ns  wait_ns
        aten::b  operator  1   10       0        10
        synchronize  wait  3   10       10       10
    """,
        ops="""
        event_id  cat           name         start_ns  end_ns  op_id
        1         cpu_op        aten::b      0         10      -
        2         cuda_runtime  synchronize  0         10      1
        3         cuda_runtime  synchronize  10        10      -
        4         cuda_runtime  synchronize  10        10      -
    """,
    )


def test_one_that_is_crossed(host):
    #                  0    5    10   15
    # aten::a          [=========)
    # wait             [===)
    # synchronize           [========)
    host.expect(
        QUERY,
        """
        name         kind      host_ns  self_ns  wait_ns
        synchronize  wait      10       10       10
        aten::a      operator  10       1        9
        clFinish     wait      4        4        4
    """,
        ops="""
        event_id  cat           name         start_ns  end_ns  cut_ns  op_id
        1         cpu_op        aten::a      0         10      5       -
        2         cuda_runtime  clFinish     0         4       -       1
        3         cuda_runtime  synchronize  5         15      -       -
    """,
    )


def test_busy_is_whatever_device_and_stream(host):
    # 0        10        20        30
    # [=====)  [====)              [==)  device 0
    #    [=====)                         device 1
    #   [==========================)     the wait
    host.expect(
        QUERY,
        """
        name      host_ns  gpu_busy_ns
        clFinish  28       12
    """,
        ops="""
        event_id  cat      name      start_ns  end_ns
        1         Runtime  clFinish  2         30
    """,
        activities="""
        device  stream  start_ns  end_ns
        0       7       0         6
        0       -       9         14
        0       7       30        33
        1       7       3         9
        1       8       5         5
    """,
    )


def test_threads_and_ranks_are_apart(host):
    # The same ids and times on three ranks; two threads wait at once on the last.
    host.expect(
        QUERY,
        """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns
        j    0     aten::a      1      10       2        8        0
        j    0     synchronize  1      8        8        8        0
        j    1     synchronize  1      8        8        8        3
        k    0     synchronize  2      16       16       16       0
    """,
        ops="""
        job  rank  event_id  cat           name         start_ns  end_ns  op_id  tid
        j    0     1         cpu_op        aten::a      0         10      -      1
        j    0     2         cuda_runtime  synchronize  1         9       1      1
        j    1     2         cuda_runtime  synchronize  1         9       -      1
        k    0     1         cpu_op        aten::a      0         10      -      1
        k    0     2         cuda_runtime  synchronize  1         9       -      2
        k    0     3         cuda_runtime  synchronize  1         9       -      -
    """,
        activities="""
        job  rank  start_ns  end_ns
        j    1     6         20
        l    0     0         90
    """,
    )


STEPS = """
    job  rank  event_id  cat           name         start_ns  end_ns  op_id  step
    j    0     1         cpu_op        aten::a      0         10      -      1
    j    0     2         cuda_runtime  synchronize  1         3       1      1
    j    0     3         cuda_runtime  synchronize  4         9       1      2
    j    0     4         cuda_runtime  synchronize  20        30      -      -
    j    2     4         cuda_runtime  synchronize  20        30      -      1
    k    0     4         cuda_runtime  synchronize  20        30      -      1
"""


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (
            {},
            """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns  caller
        j    0     synchronize  3      17       17       17       4            aten::a
        j    0     aten::a      1      10       3        7        4            -
        j    2     synchronize  1      10       10       10       0            -
        k    0     synchronize  1      10       10       10       0            -
    """,
        ),
        (
            {"only_jobs": ["k", "x"]},
            """
        job  rank  name
        k    0     synchronize
    """,
        ),
        (
            {"only_ranks": [2]},
            """
        job  rank  name
        j    2     synchronize
    """,
        ),
        # What is not selected is not there; what the devices ran and callers' names are.
        (
            {"only_steps": [1], "only_jobs": ["j"], "only_ranks": [0]},
            """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns  caller
        j    0     aten::a      1      10       8        2        1            -
        j    0     synchronize  1      2        2        2        1            aten::a
    """,
        ),
        (
            {"only_steps": [2]},
            """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns  caller
        j    0     synchronize  1      5        5        5        3            aten::a
    """,
        ),
        (
            {"only_steps": []},
            """
        job
    """,
        ),
    ],
)
def test_selection_comes_before_the_measuring(host, only, expected):
    host.expect(
        QUERY,
        expected,
        ops=STEPS,
        activities="""
        job  rank  start_ns  end_ns  step
        j    0     2         7       3
    """,
        **only,
    )
