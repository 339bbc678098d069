"""What trace_quality finds in GPU activities and launches, on drawn recordings."""

import pytest
from quality.recordings import found, healthy, launched, span, spoiled


def test_nothing_is_wrong(small):
    assert found(small, healthy()) == {}


def test_unlinked_kernels(small):
    """The first kernel was launched before the recording began: 101 of 252 ns."""

    def change(tables):
        first = tables["gpu_activities"][0]
        first |= {key: None for key in first if key.startswith("launch_")} | {"correlation": 9}
        first["step"] = None

    tables = spoiled(change)
    del tables["host_ops"][3]
    row = found(small, tables)["unlinked_kernels"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 1, 101 / 252)
    assert row["text"].startswith("1 GPU activity has no launch in the trace (40.1 % of GPU time)")
    assert "1 comes first on their stream" in row["text"]
    assert {"launch_stats", "op_stats"} <= set(row["weakens"])


def test_a_trace_of_the_gpu_alone(small):
    def change(tables):
        tables["host_ops"].clear()
        for row in tables["gpu_activities"]:
            row |= {key: None for key in row if key.startswith("launch_")} | {"step": None}

    row = found(small, spoiled(change))["unlinked_kernels"]
    assert (row["count"], row["share_frac"]) == (3, 1.0)
    assert row["text"].endswith("no launches at all: record the CPU as well as the GPU.")


def more_launches(*starts, name="cudaLaunchKernel"):
    """A change that adds launches without a kernel at these times."""

    def change(tables):
        for number, start in enumerate(starts):
            whose = {"job": "j", "rank": 0, "step": 1}
            call = span(whose, name, start, 2, "cuda_runtime", correlation=100 + number)
            tables["host_ops"].append(call | {"event_id": 100 + number})

    return change


def test_launches_at_the_edges(small):
    """The first launch with a kernel begins at 100,011, the last at 200,042."""
    rows = found(small, spoiled(more_launches(100_003, 100_005, 250_000)))
    assert list(rows) == ["launches_without_kernel"]
    row = rows["launches_without_kernel"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 3, 3 / 6)
    assert "2 before the first launch that has one, 1 after the last" in row["text"]


def test_launches_in_the_middle(small):
    rows = found(small, spoiled(more_launches(150_000)))
    assert list(rows) == ["dropped_buffers"]
    assert (rows["dropped_buffers"]["count"], rows["dropped_buffers"]["share_frac"]) == (1, 1 / 4)


def test_what_has_no_kernel_is_not_missed(small):
    """Memsets of no bytes, and functions of the host."""
    for name in ("cudaMemsetAsync", "cudaLaunchHostFunc", "cudaStreamSynchronize"):
        assert found(small, spoiled(more_launches(150_000, name=name))) == {}


def test_launches_into_a_graph(small):
    """A thread that captures a graph launches nothing; another thread does.

    thread 1   [begin] [launch] [end] [launch]
    thread 2           [launch]
    """

    def change(tables):
        whose = {"job": "j", "rank": 0}
        for number, (name, start, tid) in enumerate(
            [
                ("cudaStreamBeginCapture", 150_000, "1"),
                ("cudaLaunchKernel", 150_010, "1"),
                ("cudaLaunchKernel", 150_010, "2"),
                ("cudaStreamEndCapture", 150_020, "1"),
                ("cudaLaunchKernel", 150_030, "1"),
            ]
        ):
            call = span(whose, name, start, 2, "cuda_runtime", correlation=100 + number)
            tables["host_ops"].append(call | {"event_id": 100 + number, "tid": tid})

    assert found(small, spoiled(change))["dropped_buffers"]["count"] == 2


def on_stream_7(*kernels, **more):
    """A change that replaces the kernels of stream 7 by these: (start, end)."""

    def change(tables):
        first = tables["gpu_activities"][0]
        tables["host_ops"] = [row for row in tables["host_ops"] if row.get("correlation", 1) == 1]
        tables["gpu_activities"] = [
            launched(first, span({"correlation": 1}, "cudaLaunchKernel", 100_011, 10))
            | {"start_ns": start, "dur_ns": end - start, "event_id": number, "step": step}
            | more
            for number, (start, end, step) in enumerate(kernels)
        ]

    return change


def test_overlap_on_a_stream(small):
    """
    a   [=========)               100
    b         [=============)     150, of which 40 with a
    c           [==)               30, all with a and b
    d                       [===)  20
    """
    kernels = [(101_000, 101_100, 1), (101_060, 101_210, 1), (101_070, 101_100, 2)]
    rows = found(small, spoiled(on_stream_7(*kernels, (101_210, 101_230, 2))))
    assert list(rows) == ["overlap_on_stream"]
    row = rows["overlap_on_stream"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 2, 70 / 300)
    assert "together by 70 ns (23.3 % of GPU time)" in row["text"]


def test_overlap_that_may_be(small):
    kernels = [(101_000, 101_100, 1), (101_060, 101_210, 2)]
    for name in ("cudaLaunchKernelExC", "cuLaunchKernelEx"):
        row = found(small, spoiled(on_stream_7(*kernels, launch_name=name)))["overlap_on_stream"]
        assert (row["severity"], row["count"], row["share_frac"]) == ("info", 1, 0.0)
        assert "as they may" in row["text"]


def test_streams_overlap_each_other(small):
    def change(tables):
        tables["gpu_activities"][2]["start_ns"] = tables["gpu_activities"][1]["start_ns"] + 50

    assert found(small, spoiled(change)) == {}


def test_no_gap_on_a_stream(small):
    """Each kernel but the last ends where the next begins, or 1 ns before."""
    kernels = [(101_000 + 100 * n, 101_100 + 100 * n - n % 2, 1 + n % 2) for n in range(12)]
    row = found(small, spoiled(on_stream_7(*kernels)))["no_gap_on_stream"]
    assert (row["severity"], row["count"]) == ("warning", 11)
    assert row["share_frac"] == (6 * 100 + 5 * 99) / (6 * 100 + 6 * 99)
    # Two nanoseconds are a gap.
    apart = [(start, end - 2, step) for start, end, step in kernels]
    assert found(small, spoiled(on_stream_7(*apart))) == {}


def test_whole_microseconds_touch(small):
    kernels = [(101_000 + 1000 * n, 102_000 + 1000 * n, 1 + n % 2) for n in range(12)]
    assert found(small, spoiled(on_stream_7(*kernels))) == {}


def test_impossible_times(small):
    """One kernel begins before its launch, and another an hour after everything on the host."""

    def change(tables):
        tables["gpu_activities"][0]["start_ns"] = 100_010
        tables["gpu_activities"][2]["start_ns"] += 3_600_000_200_000

    rows = found(small, spoiled(change))
    assert list(rows) == ["impossible_times"]
    row = rows["impossible_times"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 2, 2 / 3)
    assert "1 begin before their launch, 0 end before they begin, 1 are an hour" in row["text"]


@pytest.mark.parametrize(
    "odd",
    [
        {"bytes": -1},
        {"bytes": 2**48 + 1},
        {"in_nelems": 2**62},
        {"out_nelems": -(2**63)},
        {"group_size": 0},
        {"group_size": 1_000_001},
    ],
    ids=str,
)
def test_impossible_numbers(small, odd):
    def change(tables):
        tables["gpu_activities"][0] |= odd

    rows = found(small, spoiled(change))
    assert list(rows) == ["impossible_numbers"]
    row = rows["impossible_numbers"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 1, 1 / 3)


def test_large_numbers_are_possible(small):
    def change(tables):
        large = {"bytes": 2**48, "in_nelems": 2**48, "out_nelems": 0, "group_size": 1_000_000}
        tables["gpu_activities"][0] |= large

    assert found(small, spoiled(change)) == {}


def test_cut_window(small):
    """A third step begins, and the recording stops."""

    def change(tables):
        whose = {"job": "j", "rank": 0, "step": 3, "event_id": 90}
        tables["host_ops"].append(span(whose, "ProfilerStep#3", 300_003, 10, "user_annotation"))

    rows = found(small, spoiled(change))
    assert list(rows) == ["cut_window"]
    row = rows["cut_window"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 1, 1 / 3)
    assert row["text"].startswith("Step 3 at the edge of the recording has no GPU activity")


def test_a_step_inside_may_be_empty(small):
    def change(tables):
        for row in [*tables["gpu_activities"][1:], *tables["host_ops"][4:]]:
            row["step"] = 3
            row["name"] = row["name"].replace("#2", "#3")
        whose = {"job": "j", "rank": 0, "step": 2, "event_id": 90}
        tables["host_ops"].append(span(whose, "ProfilerStep#2", 200_001, 1, "user_annotation"))

    assert found(small, spoiled(change)) == {}


def test_work_outside_of_steps(small):
    def change(tables):
        tables["gpu_activities"][2]["step"] = None

    rows = found(small, spoiled(change))
    assert list(rows) == ["work_outside_steps"]
    row = rows["work_outside_steps"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("info", 1, 50 / 252)


def test_graph_kernels(small):
    def change(tables):
        tables["gpu_activities"][0]["launch_name"] = "cudaGraphLaunch"

    rows = found(small, spoiled(change))
    assert list(rows) == ["graph_kernels"]
    row = rows["graph_kernels"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 1, 101 / 252)
