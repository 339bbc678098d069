"""sync_points: odd rows, deep and many operators."""

import pytest
from queries.plans import plan
from queries.waits import QUERY


def test_odd_rows_are_no_error(host):
    host.expect(
        QUERY,
        """
        name         kind  count  host_ns
        synchronize  wait  2      3000000000000000000
        -            copy  1      5
    """,
        ops="""
        event_id  cat           name         start_ns             end_ns               op_id
        1         cuda_runtime  synchronize  0                    1000000000000000000  404
        2         cuda_runtime  synchronize  5000000000000000000  7000000000000000000  -
        3         cuda_runtime  -            0                    5                    -
        4         -             synchronize  0                    5                    -
    """,
        activities="""
        kind    name                             start_ns  end_ns  launch_id  launch_end_ns
        memory  Memcpy~DtoH~(Device~->~Pageable) 0         3       3          5
        memory  -                                0         3       -          -
        memory  -                                0         3       77         -
    """,
    )


def test_calls_of_all_kinds_under_one_name(host):
    host.expect(
        QUERY,
        """
        name     kind      count  host_ns  self_ns  wait_ns
        aten::a  operator  2      19       10       18
        b        copy      2      2        2        2
    """,
        ops="""
        event_id  cat           name     start_ns  end_ns  op_id
        1         cpu_op        aten::a  0         10      -
        2         cuda_runtime  aten::a  0         9       1
        3         cuda_runtime  b        20        21      -
        4         cuda_runtime  b        30        31      -
    """,
        activities="""
        kind    name                              start_ns  end_ns  launch_id  launch_end_ns
        memory  Memcpy~DtoH~(Device~->~Pageable)  0         3       2          9
        memory  Memcpy~DtoH~(Device~->~Pageable)  20        23      3          21
        memory  Memcpy~DtoH~(Device~->~Pageable)  30        33      4          31
    """,
    )


def test_operators_deep_inside_one_another(host):
    """A stack of 5,000."""
    depth = 5000
    ops = [
        {
            "event_id": n,
            "cat": "cpu_op",
            "name": f"aten::f{n % 7}",
            "start_ns": n,
            "end_ns": 20_000 - n,
            "op_id": n - 1 if n else None,
        }
        for n in range(depth)
    ]
    ops.append(
        {
            "event_id": depth,
            "cat": "cuda_runtime",
            "name": "synchronize",
            "start_ns": 9000,
            "end_ns": 9010,
            "op_id": depth - 1,
        }
    )
    host.fill(host_ops=ops)
    rows = host.run(QUERY)
    assert sum(row["count"] for row in rows) == depth + 1
    assert sum(row["self_ns"] for row in rows) == 20_000
    assert {row["wait_ns"] for row in rows if row["kind"] == "wait"} == {10}


@pytest.mark.parametrize("given", ["", "only_jobs := ['j']", "only_ranks := [0]"])
@pytest.mark.parametrize("filled", [False, True])
def test_joins_are_by_ids(host, filled, given):
    """DuckDB may join two relations by any key of a third that both are joined with."""
    rows = [
        {
            "event_id": n,
            "cat": "cuda_runtime",
            "name": "synchronize",
            "start_ns": 3 * n,
            "dur_ns": 2,
        }
        for n in range(3000)
    ]
    host.fill(
        host_ops=rows * filled,
        gpu_activities=[{"start_ns": 5 * n, "dur_ns": 2} for n in range(3000)] * filled,
    )
    by_rank_alone = 0
    for node in plan(host.con, f"FROM {QUERY}_v1({given})"):
        conditions = str(node["extra_info"].get("Conditions", ""))
        if "JOIN" in node["name"] and not any(
            one in conditions for one in ("event_id", "op_id", "launch_id", "point")
        ):
            by_rank_alone += 1  # of each rank one row
            assert conditions == "['job = job', 'rank = rank']"
    assert by_rank_alone <= 1
    assert len(host.run(QUERY)) == filled


def test_nothing_at_all(host):
    host.fill()
    assert host.run(QUERY) == []
