"""The critical path by operator: drawn, and summed in Python over real traces."""

from collections import Counter

import pytest
from paths.conftest import call, kernel, op

US = 1000
PARTS = {
    "cpu_bound": "host_ns",
    "data_loading": "host_ns",
    "gpu_compute_bound": "gpu_ns",
    "gpu_communication_bound": "gpu_ns",
    "gpu_kernel_launch_overhead": "delay_ns",
    "gpu_kernel_kernel_overhead": "delay_ns",
}


def in_us(run, **chosen):
    return {
        row["operator"]: (
            row["host_ns"] // US,
            row["gpu_ns"] // US,
            row["delay_ns"] // US,
            row["edge_count"],
        )
        for row in run.critical_path_ops(**chosen).to_pylist()
    }


def test_host_activities_and_delays(paths_of):
    """Operators have what is in no operator inside them; calls and activities count for theirs.

    host       [linear [addmm [launch a]))  [relu [launch b]) [cudaStreamSynchronize ==========)
    stream 7                    [== a, 40 to 140 =) [== b, 150 to 350 ======================)
    """
    linear, addmm = op(1, "linear", 0, 35), op(2, "addmm", 10, 25, op_id=1)
    a = call(3, "cudaLaunchKernel", 20, 10, op_id=2)
    relu = op(4, "relu", 50, 20)
    b = call(5, "cudaLaunchKernel", 55, 10, op_id=4)
    wait = call(6, "cudaStreamSynchronize", 75, 280)
    run = paths_of(
        [linear, addmm, a, relu, b, wait],
        [kernel(11, 40, 100, a, op_id=2), kernel(12, 150, 200, b, op_id=4)],
    )
    rows = in_us(run)
    # To the launch: linear 10, addmm 10. From the launch's start to a's start: 20.
    assert rows == {"relu": (0, 200, 0, 1), "addmm": (10, 100, 20 + 10, 4), "linear": (10, 0, 0, 1)}
    assert list(rows) == ["relu", "addmm", "linear"]
    assert run.check("critical_path_ops") == []
    shares = [row["time_frac"] for row in run.critical_path_ops().to_pylist()]
    assert shares == [200 / 350, 140 / 350, 10 / 350]


def test_calls_outside_operators(paths_of):
    """A bare call, and an activity whose launch is in no operator, belong to none."""
    bare = call(1, "cudaLaunchKernel", 0, 10)
    wait = call(2, "cudaDeviceSynchronize", 20, 100)
    run = paths_of([bare, wait], [kernel(11, 15, 100, bare)])
    # The call that waits takes no time of the path.
    assert in_us(run) == {None: (0, 100, 15, 2)}


def test_chosen_windows(paths_of):
    run = paths_of([op(1, "one", 0, 10)])
    assert in_us(run, only_windows=["trace"]) == {"one": (10, 0, 0, 1)}
    assert in_us(run, only_windows=["step 3"]) == {}


@pytest.mark.real
def test_sums_of_real_paths(real_paths_run):
    run = real_paths_run
    run.compute_critical_path()
    of_event = {
        (row["job"], row["rank"], row["event_id"]): row["op_id"]
        for row in run.sql(
            "SELECT job, rank, event_id, op_id FROM gpu_activities UNION ALL "
            "SELECT job, rank, event_id, "
            "CASE WHEN cat IN ('cpu_op', 'Operator') THEN event_id ELSE op_id END FROM host_ops"
        ).to_pylist()
    }
    names = {
        (row["job"], row["rank"], row["event_id"]): row["name"]
        for row in run.sql("SELECT job, rank, event_id, name FROM host_calls").to_pylist()
    }
    wanted, edges = Counter(), Counter()
    for row in run.critical_path().to_pylist():
        if row["bound_by"] is None:
            continue
        job, rank = row["job"], row["rank"]
        operator = names.get((job, rank, of_event[job, rank, row["event_id"]]))
        key = (job, rank, row["path_window"], operator)
        wanted[*key, PARTS[row["bound_by"]]] += row["time_ns"]
        edges[key] += 1
    found = run.critical_path_ops().to_pylist()
    keys = [(r["job"], r["rank"], r["path_window"], r["operator"]) for r in found]
    assert len(set(keys)) == len(keys) > 100
    assert edges == {key: row["edge_count"] for key, row in zip(keys, found, strict=True)}
    assert +wanted == {
        (*key, part): row[part]
        for key, row in zip(keys, found, strict=True)
        for part in set(PARTS.values())
        if row[part]
    }
    assert run.check("critical_path_ops") == []
