"""call_stack: what is around an event, before and behind it."""

import pytest
from queries.stacks.drawn import STEP, THREE, related


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
