"""What ingest derives of launches, steps and what is around."""

from enrichment.rows import activity
from hand_written import ingested, rows, span, trace_text


def test_launches(tmp_path):
    def call(name, ts, dur, correlation, cat="cuda_runtime"):
        return span(name, ts, dur, cat, correlation=correlation)

    events = [
        call("cudaLaunchKernel", 5, 3, 1),
        activity("a", 20, correlation=1),
        # Several calls: the earliest, then the longest, then the first in the file.
        call("inner", 31, 2, 2, "cuda_driver"),
        call("outer", 30, 9, 2),
        call("same", 30, 9, 2),
        call("short", 30, 1, 2),
        activity("b", 50, correlation=2),
        # One graph launch, many activities.
        call("cudaGraphLaunch", 60, 2, 3),
        activity("c", 70, correlation=3),
        activity("d", 80, correlation=3),
        activity("e", 90, correlation=4),
        activity("f", 95),
        span("cpu_op with the id", 0, 1, correlation=4),
        call("hipLaunchKernel", 1, 1, 5, "Runtime"),
        activity("g", 99, cat="Kernel", correlation="5"),
        call("later", 200, 1, 6, "mtia_runtime"),
        activity("h", 150, correlation=6),
    ]
    archive = ingested(tmp_path, trace_text(events))
    assert rows(
        archive,
        "SELECT name, launch_name, launch_id, launch_start_ns FROM gpu_activities ORDER BY 1",
    ) == [
        ("a", "cudaLaunchKernel", 0, 5000),
        ("b", "outer", 3, 30000),
        ("c", "cudaGraphLaunch", 7, 60000),
        ("d", "cudaGraphLaunch", 7, 60000),
        ("e", None, None, None),
        ("f", None, None, None),
        ("g", "hipLaunchKernel", 13, 1000),
        ("h", "later", 15, 200000),
    ]


def test_steps(tmp_path):
    """By the start of the event, or of the launch; the last step to begin where several hold."""

    def step(name, ts, dur, cat="user_annotation", **more):
        return span(name, ts, dur, cat, **more)

    events = [
        step("ProfilerStep#3", 100, 100),
        step("ProfilerStep#4", 200, 100),
        step("ProfilerStep # 9", 220, 10, tid=5),
        step("ProfilerStep#x", 0, 1000),
        step("ProfilerStep#7", 0, 1000, "gpu_user_annotation"),
        step("profile.py: ProfilerStep#8", 0, 1000, "python_function"),
    ]
    expected = [(3, 100), (3, 199.999), (4, 200), (9, 220), (4, 230), (None, 99), (None, 300)]
    for at, (_, ts) in enumerate(expected):
        events.append(span(f"launch{at}", ts, 500, "cuda_runtime", tid=10 + at, correlation=at + 1))
        events.append(activity(f"k{at}", 5000 + at, correlation=at + 1))
    events.append(activity("unlaunched", 150))
    archive = ingested(tmp_path, trace_text(events))
    found = rows(archive, "SELECT step FROM gpu_activities ORDER BY start_ns")
    assert found == [(None,), *((step,) for step, _ in expected)]
    found = rows(archive, "SELECT step FROM host_ops WHERE prefix(name, 'launch') ORDER BY name")
    assert found == [(step,) for step, _ in expected]
    assert rows(archive, "SELECT step FROM steps ORDER BY step") == [(3,), (4,), (9,)]


def test_what_is_around(tmp_path):
    """The innermost operator and annotation, of host operations and of what they launch."""
    events = [
        span("note", 0, 100, "user_annotation"),
        span("aten::linear", 10, 50),
        span("module.py: forward", 12, 40, "python_function"),
        span("aten::mm", 15, 30),
        span("cudaLaunchKernel", 20, 5, "cuda_runtime", correlation=1),
        activity("gemm", 200, correlation=1),
        span("cuLaunchKernel", 70, 5, "cuda_driver", correlation=2),
        activity("triton", 300, correlation=2),
        span("cudaLaunchKernel", 20, 5, "cuda_runtime", tid=2, correlation=3),
        activity("other thread", 400, correlation=3),
        activity("not launched", 500),
    ]
    archive = ingested(tmp_path, trace_text(events))
    assert rows(archive, "SELECT event_id, op_id, annotation_id FROM host_ops ORDER BY 1") == [
        (0, None, None),
        (1, None, 0),
        (2, 1, 0),
        (3, 1, 0),
        (4, 3, 0),
        (6, None, 0),
        (8, None, None),
    ]
    assert rows(
        archive, "SELECT name, op_id, annotation_id FROM gpu_activities ORDER BY start_ns"
    ) == [
        ("gemm", 3, 0),
        ("triton", None, 0),
        ("other thread", None, None),
        ("not launched", None, None),
    ]


def test_crossed_spans_leave_the_stack(tmp_path):
    events = [
        span("crossed", 0, 10),
        span("crossing", 5, 10),
        span("launch", 7, 1, "cuda_runtime", correlation=1),
        span("later", 12, 1),
        activity("k", 20, correlation=1),
    ]
    archive = ingested(tmp_path, trace_text(events))
    sql = "SELECT name, cut_ns, parent_id, op_id FROM host_ops ORDER BY start_ns"
    assert rows(archive, sql) == [
        ("crossed", 5000, None, None),
        ("crossing", None, None, None),
        ("launch", None, 1, 1),
        ("later", None, 1, 1),
    ]
    assert rows(archive, "SELECT op_id FROM gpu_activities") == [(1,)]


def test_what_is_around_though_crossed(tmp_path):
    """An operator that ends a moment after its annotation takes no launch out of that."""
    events = [
        span("step", 0, 100, "user_annotation"),
        span("aten::mm", 10, 91),
        span("launch", 20, 5, "cuda_runtime", correlation=1),
        span("launch", 95, 5, "cuda_runtime", correlation=2),
        span("launch", 99, 2, "cuda_runtime", correlation=3),
        activity("a", 200, correlation=1),
        activity("b", 300, correlation=2),
        activity("outlives step", 400, correlation=3),
    ]
    archive = ingested(tmp_path, trace_text(events))
    sql = "SELECT name, op_id, annotation_id FROM gpu_activities ORDER BY start_ns"
    assert rows(archive, sql) == [("a", 1, 0), ("b", 1, 0), ("outlives step", 1, None)]
    sql = "SELECT parent_id, op_id, annotation_id FROM host_ops ORDER BY event_id"
    assert rows(archive, sql) == [
        (None, None, None),
        (None, None, None),
        (1, 1, 0),
        (1, 1, 0),
        (1, 1, None),
    ]


def test_device_and_stream(tmp_path):
    events = [
        activity("a", pid=3, tid=20),
        activity("b", pid=3, tid=20, device=1, stream=7),
        activity("c", pid="GPU", tid="stream 7"),
        activity("d", pid="2", tid="9", stream=2**32 - 1),
    ]
    archive = ingested(tmp_path, trace_text(events))
    assert rows(archive, "SELECT device, stream FROM gpu_activities ORDER BY name") == [
        (3, 20),
        (1, 7),
        (None, None),
        (2, 2**32 - 1),
    ]
    assert archive.temporal_breakdown().num_rows == 4


def test_collective_arguments(tmp_path):
    comms_id = 2**63 + 12345
    kernel = activity(
        "ncclDevKernel_x",
        **{
            "Collective name": "_allgather_base",
            "dtype": "BFloat16",
            "In msg nelems": 100,
            "Out msg nelems": 800,
            "Group size": 8,
            "Process Group Name": "1",
            "Seq": 77,
            "Process Group Description": "dp",
            "Process Group Ranks": "[0, 1, ..., 7]",
            "In split size": "[]",
            "Src Rank": 2,
            "Comms Id": comms_id,
            "grid": [4, 2, 1],
            "est. achieved occupancy %": 25,
            "External id": 5,
        },
    )
    archive = ingested(tmp_path, trace_text([kernel]))
    [row] = archive.sql(
        "SELECT collective_name, dtype, in_nelems, out_nelems, group_size, process_group_name,"
        " process_group_desc, process_group_ranks, in_split_sizes, src_rank, dst_rank, seq,"
        " comms_id, grid, occupancy_frac, external_id FROM gpu_activities"
    ).to_pylist()
    assert tuple(row.values()) == (
        "_allgather_base",
        "BFloat16",
        100,
        800,
        8,
        "1",
        "dp",
        "[0, 1, ..., 7]",
        "[]",
        2,
        None,
        77,
        comms_id,
        [4, 2, 1],
        0.25,
        5,
    )
