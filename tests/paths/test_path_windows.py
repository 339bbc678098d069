"""Critical paths of windows and of several ranks."""

from math import isclose

import pytest
from paths.conftest import PATH_QUERIES, call, kernel, op, path_of

import hta_sql


def test_windows(paths_of):
    """Steps by number, annotations by name and turn, of what began in them."""
    ops = []
    for n in range(3):
        ops += [
            op(10 * n, f"ProfilerStep#{n + 5}", 100 * n, 90, cat="user_annotation"),
            op(10 * n + 1, "aten::mm", 100 * n + 5, 10 + n),
            op(10 * n + 2, "inner", 100 * n + 40, 20, cat="user_annotation"),
            op(10 * n + 3, "aten::add", 100 * n + 45, 30 + n),
        ]
    run = paths_of(ops, step=6)
    run.compute_critical_path(annotation="inner", instance=2)
    run.compute_critical_path()
    windows = run.sql("SELECT path_window, node_count FROM critical_paths ORDER BY ALL").to_pylist()
    assert [tuple(row.values()) for row in windows] == [
        ("inner #2", 4),
        ("step 6", 6),
        ("trace", 14),
    ]
    assert path_of(run, only_windows=["step 6"]) == [
        ("operator", 11, 11),
        ("dependency", None, 0),
        ("operator", 13, 31),
    ]
    assert path_of(run, only_windows=["inner #2"]) == [("operator", 23, 32)]
    assert run.critical_path(only_windows=["no"]).num_rows == 0


def test_work_of_an_earlier_window_is_not_on_the_path(paths_of):
    """b is launched in the step, but begins once a, of the step before, is done."""
    steps = [
        op(1, "ProfilerStep#1", 0, 100, cat="user_annotation"),
        op(2, "ProfilerStep#2", 100, 100, cat="user_annotation"),
    ]
    a, b = call(3, "cudaLaunchKernel", 10, 4), call(4, "cudaLaunchKernel", 110, 4)
    c = call(5, "cudaLaunchKernel", 120, 4)
    activities = [kernel(11, 20, 300, a), kernel(12, 321, 50, b), kernel(13, 372, 50, c)]
    run = paths_of([*steps, a, b, c], activities, step=2)
    assert path_of(run) == [
        ("operator", 12, 50),
        ("kernel_kernel_delay", 12, 1),
        ("operator", 13, 50),
    ]
    # The devices take longer than the host here: 102 us, from a's end to c's end.
    assert {row["step_ns"] for row in run.what_if().to_pylist()} == {102_000}
    job = run.critical_path_ranks().to_pylist()
    assert sum(row["time_ns"] for row in job) == 102_000
    # Where the host waits for it, the window lasts on the host: 276 us of 290 for the earlier one.
    wait = call(6, "cudaDeviceSynchronize", 130, 295)
    steps[1] = op(2, "ProfilerStep#2", 100, 330, cat="user_annotation")
    run = paths_of([*steps, a, b, c, wait], activities, step=2)
    times = {
        row["bound_by"]: row["time_ns"] // 1000 for row in run.critical_path_ranks().to_pylist()
    }
    assert times == {
        "earlier_window": 221,
        "gpu_compute_bound": 100,
        "gpu_kernel_kernel_overhead": 1,
        "cpu_bound": 8,
    }


def without_launch_overhead(run):
    """How long the step lasts in the trace and in this what-if, in us."""
    [row] = [row for row in run.what_if().to_pylist() if row["scenario"] == "launch_overhead_gone"]
    return row["step_ns"] / 1000, row["new_step_ns"] / 1000


def test_an_idle_device_counts_from_where_the_window_begins(paths_of):
    """The kernel begins 136 us after its launch, and ends 400 us after the step has ended."""
    step = op(1, "ProfilerStep#1", 0, 100, cat="user_annotation")
    launch = call(2, "cudaLaunchKernel", 60, 4)
    run = paths_of([step, launch], [kernel(11, 200, 300, launch)], step=1)
    assert without_launch_overhead(run) == (500, 360)
    # The path covers the step: 60 us of the host, 140 from the launch's begin, and the kernel.
    times = {row["bound_by"]: row["time_ns"] for row in run.critical_path_ranks().to_pylist()}
    assert times == {
        "cpu_bound": 60_000,
        "gpu_kernel_launch_overhead": 140_000,
        "gpu_compute_bound": 300_000,
    }


@pytest.mark.parametrize(
    ("ends", "lasts"), [(150, (150, 100)), (90, (200, 110)), (250, (100, 100))]
)
def test_a_busy_device_counts_from_where_its_earlier_work_ends(paths_of, ends, lasts):
    """Without launch overhead, b begins once it is launched, at 110, and a has ended, which is of
    the step before and on another stream. If a ends after b begins, the step lasts as long as b.
    """
    steps = [
        op(1, "ProfilerStep#1", 0, 100, cat="user_annotation"),
        op(2, "ProfilerStep#2", 100, 100, cat="user_annotation"),
    ]
    a, b = call(3, "cudaLaunchKernel", 10, 4), call(4, "cudaLaunchKernel", 110, 4)
    activities = [kernel(11, 20, ends - 20, a, stream=20), kernel(12, 200, 100, b)]
    assert without_launch_overhead(paths_of([*steps, a, b], activities, step=2)) == lasts


def test_nothing_to_see(paths_of):
    """An empty window has one edge, on no path; queries have no rows, and nothing fails."""
    run = paths_of([op(1, "ProfilerStep#1", 0, 100, cat="user_annotation")], step=1)
    assert path_of(run) == []
    assert run.critical_path_summary().num_rows == 0
    assert {row["gain_ns"] for row in run.what_if().to_pylist()} == {0}
    assert {row["step_ns"] for row in run.what_if().to_pylist()} == {100_000}


def test_queries_without_paths(tiny_archive):
    with hta_sql.open(tiny_archive) as run:
        for name in PATH_QUERIES:
            with pytest.warns(UserWarning, match="the archive has no critical path"):
                assert run.query(name).num_rows == 0


def collective(event_id, start, dur, launch, rank, seq=1):
    return kernel(
        event_id,
        start,
        dur,
        launch,
        rank=rank,
        kind="communication",
        name="nccl",
        short_name="nccl",
        collective_name="allreduce",
        dtype="Float",
        in_nelems=64,
        out_nelems=64,
        group_size=2,
        process_group_name="0",
        process_group_ranks="[0, 1]",
        seq=seq,
    )


def two_ranks(forward=(100, 300)):
    """Ranks that compute, meet in two all-reduces and synchronise; the second one is slow.

    rank 0   [= forward =)[====== all_reduce ======)[b)
    rank 1   [======= forward =======)[ all_reduce )[b)
    """
    ops, activities = [], []
    done = max(forward) + 10
    for rank in (0, 1):
        launches = [call(i, "cudaLaunchKernel", 10 * i, 5, rank=rank) for i in (1, 2, 3, 4)]
        wait = call(9, "cudaDeviceSynchronize", 60, done + 60, rank=rank)
        step = op(0, "ProfilerStep#1", 0, done + 150, cat="user_annotation", rank=rank)
        ops += [step, *launches, wait]
        activities += [
            kernel(11, 20, forward[rank], launches[0], rank=rank),
            collective(12, 22 + forward[rank], done + 18 - forward[rank], launches[1], rank),
            kernel(13, done + 42, 60, launches[2], rank=rank, name="b", short_name="b"),
            collective(14, done + 103, 10, launches[3], rank, seq=2),
        ]
    return ops, activities


def test_the_path_crosses_to_the_rank_that_came_last(paths_of):
    run = paths_of(*two_ranks(), ranks=(0, 1), step=1)
    rows = run.critical_path_ranks().to_pylist()
    times = {(row["rank"], row["bound_by"]): row["time_ns"] // 1000 for row in rows}
    # Rank 1's forward; what is after the meeting may be on either.
    assert times[1, "gpu_compute_bound"] >= 300
    assert (0, "gpu_compute_bound") not in times or times[0, "gpu_compute_bound"] <= 60
    assert isclose(sum(row["time_frac"] for row in rows), 1)
    assert sum(times.values()) == 460
    assert run.check("critical_path_ranks") == []


def test_what_if(paths_of):
    """Rank 1's forward takes 300 us and rank 0's 100: as fast as that, 200 us are gained."""
    run = paths_of(*two_ranks(), ranks=(0, 1), step=1, faster={"b": 3, "nothing": 2})
    found = {(row["scenario"], row["subject"]): row for row in run.what_if().to_pylist()}
    gains = {key: row["gain_ns"] // 1000 for key, row in found.items()}
    assert found["rank_as_median", "rank 1"]["step_ns"] == 460_000
    assert gains["rank_as_median", "rank 1"] == 200
    assert gains["faster", "gemm"] == 150  # of both ranks, each twice as fast
    assert gains["faster", "b"] == 40
    assert gains["faster", "nothing"] == 0 and found["faster", "nothing"]["edge_count"] == 0
    # The transfers, 28 and 10 us, are all of the all-reduces but waiting.
    assert gains["communication_hidden", None] == 38
    assert gains["communication_at_median", None] == 18  # both as fast as the faster one
    assert gains["data_loading_gone", None] == 0
    assert all("." in row["method"] for row in found.values())
    assert run.check("what_if") == []


def test_ranks_that_are_not_all_there(paths_of):
    """Of one rank alone nobody knows for whom it waits: its all-reduces keep their durations."""
    ops, activities = two_ranks()
    run = paths_of(ops, activities, ranks=(0, 1), step=1, only_ranks=[0])
    [communication] = [
        row
        for row in run.critical_path_ranks().to_pylist()
        if row["bound_by"] == "gpu_communication_bound"
    ]
    assert communication["rank"] == 0 and communication["time_ns"] // 1000 >= 218
    gains = {row["scenario"]: row["gain_ns"] // 1000 for row in run.what_if().to_pylist()}
    assert "rank_as_median" not in gains
