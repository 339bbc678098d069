"""call_stack: other threads, crossings, other ranks and deep stacks."""

import pytest
from queries.stacks.drawn import folded, related


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
