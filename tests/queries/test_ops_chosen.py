"""op_stats and op_calls: shapes, order, ranks and odd rows."""

import pytest
from queries.ops import LINEAR, OF_LINEAR, kernels


def test_without_activities_or_their_time(host):
    host.expect(
        "op_stats",
        """
        name  kernel_count  kernel_ns  kernel_busy_ns  kernel_span_ns  gpu_utilization_frac
        one   1             0          0               0               -
        none  0             0          0               0               -
    """,
        activities="""
        op_id  start_ns  end_ns
        1      5         5
        -      0         9
    """,
        ops="""
        event_id  name  start_ns  end_ns
        1         one   0         5
        2         none  0         2
    """,
    )
    host.expect(
        "op_calls",
        """
        event_id  num_kernels  kernel_dur_sum_ns  kernel_span_ns  gpu_utilization_frac
        1         1            0                  0               -
        2         0            0                  0               -
    """,
        activities="op_id  start_ns  end_ns\n1  5  5\n-  0  9",
        ops="""
        event_id  name  start_ns  end_ns
        1         one   0         5
        2         none  0         2
    """,
    )


def test_a_crossed_call_takes_time_from_its_caller_until_it_is_crossed(host):
    # [==================)    1 outer
    #   [=======)             2, crossed by 3 at 6
    #       [========)        3
    host.expect(
        "op_stats",
        """
        name   host_total_ns  host_self_ns
        outer  19             6
        in     17             17
    """,
        ops="""
        event_id  name   start_ns  end_ns  parent_id  cut_ns
        1         outer  0         19      -          -
        2         in     2         10      1          6
        3         in     6         15      1          -
    """,
    )


def test_by_shape(host):
    ops = """
        event_id  name  start_ns  dur_ns  input_dims     input_types
        1         mm    0         1       [[2,3],[3,4]]  ["float","float"]
        2         mm    10        2       [[2,3],[3,4]]  ["half","half"]
        3         mm    20        4       [[2,3],[3,4]]  ["float","float"]
        4         mm    30        8       [[9,3],[3,4]]  ["float","float"]
        5         mm    40        16      -              -
        6         mm    50        32      -              -
        7         add   60        64      -              -
    """
    activities = "op_id  start_ns  dur_ns\n1  0  3\n4  5  5"
    host.expect(
        "op_stats",
        """
        name  input_dims     input_types        count  host_total_ns  kernel_ns  example_event_id
        mm    [[9,3],[3,4]]  ["float","float"]  1      8              5          4
        mm    [[2,3],[3,4]]  ["float","float"]  2      5              3          1
        add   -              -                  1      64             0          7
        mm    -              -                  2      48             0          5
        mm    [[2,3],[3,4]]  ["half","half"]    1      2              0          2
    """,
        ops=ops,
        activities=activities,
        by_shape=True,
    )
    host.expect(
        "op_stats",
        """
        name  input_dims  input_types  count  host_total_ns  kernel_ns
        mm    -           -            6      63             8
        add   -           -            1      64             0
    """,
        ops=ops,
        activities=activities,
    )


def test_order_of_operators(host):
    """By time on the GPU, then on the host, then name, shapes and types, none of them last."""
    host.expect(
        "op_stats",
        """
        job  rank  name  input_dims  input_types
        i    0     z     -           -
        j    0     z     [1]         -
        j    0     y     [1]         -
        j    0     x     [1]         t
        j    0     x     [1]         u
        j    0     x     [2]         t
        j    0     x     [2]         -
        j    0     x     -           -
        j    0     -     [1]         -
        j    1     a     -           -
    """,
        by_shape=True,
        activities="op_id  start_ns  dur_ns\n20  0  9",
        ops="""
        job  rank  event_id  name  start_ns  dur_ns  input_dims  input_types
        j    1     11        a     0         90      -           -
        j    0     12        -     0         1       [1]         -
        j    0     13        x     0         1       -           -
        j    0     14        x     0         1       [2]         -
        j    0     15        x     0         1       [2]         t
        j    0     16        x     0         1       [1]         u
        j    0     17        x     0         1       [1]         t
        i    0     18        z     0         1       -           -
        j    0     19        y     0         2       [1]         -
        j    0     20        z     0         1       [1]         -
    """,
    )


def test_event_ids_are_of_their_rank(host):
    """Equal ones of other ranks and jobs are other calls."""
    ops = """
        job  rank  event_id  name  start_ns  end_ns  parent_id  op_id
        i    0     1         a     0         9       -          -
        i    0     2         b     0         4       1          1
        i    1     1         b     0         9       -          -
        i    1     2         a     0         2       1          1
        j    0     2         a     0         9       -          -
    """
    activities = """
        job  rank  op_id  start_ns  end_ns
        i    0     2      0         5
        i    1     2      0         50
        j    0     2      0         500
        j    1     2      0         999
    """
    host.expect(
        "op_calls",
        """
        job  rank  event_id  name  kernel_dur_sum_ns
        i    0     1         a     5
        i    0     2         b     5
        i    1     1         b     50
        i    1     2         a     50
        j    0     2         a     500
    """,
        activities=activities,
        ops=ops,
    )
    host.expect(
        "op_stats",
        """
        job  rank  name  kernel_ns  self_kernel_ns  host_self_ns
        i    0     a     5          0               5
        i    0     b     5          5               4
        i    1     b     50         0               7
        i    1     a     50         50              2
        j    0     a     500        500             9
    """,
        activities=activities,
        ops=ops,
    )
    assert [row["job"] for row in host.run("op_stats", only_jobs=["j"])] == ["j"]
    assert [row["rank"] for row in host.run("op_calls", only_ranks=[1])] == [1, 1]


def test_parameters_of_calls(host):
    host.fill(OF_LINEAR, LINEAR)
    assert kernels(host, min_kernels=1) == {1: 2, 2: 1}
    assert kernels(host, min_kernels=2) == {1: 2}
    assert kernels(host, min_kernels=3) == {}
    assert kernels(host, name_contains="mm") == {2: 1}
    assert kernels(host, name_contains="MM") == {}
    assert [row["name"] for row in host.run("op_stats", name_contains="::m")] == ["aten::mm"]
    assert host.run("op_stats", name_contains="MM") == []
    assert host.run("op_stats", only_jobs=["i"]) == host.run("op_calls", only_ranks=[7]) == []
    assert host.run("op_stats", only_steps=[]) == host.run("op_calls", only_steps=[]) == []


def test_what_ingest_knows_of_a_call(host):
    host.expect(
        "op_calls",
        """
        event_id  step  depth  parent_id  input_dims  input_types  is_backward  forward_event_id
        7         3     2      99         [[1]]       ["int"]      true         5
        8         -     0      -          -           -            false        -
    """,
        ops="""
        event_id  step  depth  parent_id  input_dims  input_types  is_backward  forward_id  start_ns  end_ns
        7         3     2      99         [[1]]       ["int"]      true         5           0         9
        8         -     0      -          -           -            false        -           9         9
    """,  # noqa: E501
    )


@pytest.mark.parametrize("names", ["same", "different"])
def test_a_chain_5000_deep(host, names):
    """One activity at every 500th level."""
    depth, every = 5000, 500
    host.fill(
        [{"op_id": at, "start_ns": 10 * at, "dur_ns": 4} for at in range(every - 1, depth, every)],
        [
            {
                "event_id": at,
                "name": "a" if names == "same" else f"a{at:04}",
                "start_ns": at,
                "end_ns": 20_000 - at,
                "parent_id": at - 1 if at else None,
                "op_id": at - 1 if at else None,
                "depth": at,
            }
            for at in range(depth)
        ],
    )
    wanted = {at: depth // every - at // every for at in range(depth)}
    assert kernels(host) == wanted
    rows = host.run("op_stats")
    if names == "same":
        assert [
            (
                row["count"],
                row["kernel_count"],
                row["kernel_ns"],
                row["self_kernel_ns"],
                row["kernel_span_ns"],
            )
            for row in rows
        ] == [(5000, 10, 40, 40, 45_004)]
    else:
        assert {row["example_event_id"]: row["kernel_count"] for row in rows} == wanted
    # Each is 2 ns longer than the one in it, but for the last.
    assert sum(row["host_self_ns"] for row in rows) == 20_000


def test_nothing_at_all(host):
    host.fill()
    assert host.run("op_stats") == host.run("op_calls") == host.run("op_stats", by_shape=True) == []
    host.fill(OF_LINEAR)
    assert host.run("op_stats") == host.run("op_calls") == []
