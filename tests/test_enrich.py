"""What ingest derives for GPU activities: names, kinds, launches, steps, devices."""

import random

import duckdb
import pytest
from hand_written import ingested, rows, span, trace_text

from hta_sql.catalogue.root import sql_root


@pytest.fixture(scope="module")
def con():
    con = duckdb.connect()
    for name in ("categories", "kernel_kind", "short_name"):
        con.execute((sql_root() / "relations/names" / f"{name}.sql").read_text())
    return con


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("a(1)", "a"),
        ("a<int>(b)", "a"),
        ("void f<int>(float*, int)", "f"),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
            "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>)",
            "at::native::vectorized_elementwise_kernel",
        ),
        ("void at::native::(anonymous namespace)::multi_k<4, (bool)1>(int)", "at::native::multi_k"),
        ("void <unnamed>::softmax<float, (int)8>(float*)", "softmax"),
        ("std::enable_if<!(T::x), void>::type ns::run<A<B<C<D<E<F> > > > > >(A, B)", "ns::run"),
        ("ns::op::operator()(int) const", "ns::op::operator()"),
        ("foo(int) const", "foo"),
        ("void rocblas_gemm<float>(int) [clone .kd]", "rocblas_gemm"),
        (
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        ),
        ("<", "<"),
        ("()", "()"),
        ("", ""),
        ("void f<" * 40 + ">" * 40, None),
    ],
)
def test_short_names(con, name, short):
    found = con.execute("SELECT short_name($1)", [name]).fetchall()[0][0]
    assert found == short if short is not None else found


KINDS = {
    "communication": [
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "void ncclKernel_x",
        "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL",
        "nccl:all_reduce",
        "rcclGenericKernel",
        "hccl::all_reduce",
        "oneCCL_allreduce",
        "msccl_kernel",
        "nvshmem_put",
        "void deep_ep::intranode::dispatch<8>(int)",
        "void vllm::cross_device_reduce_1stage<8>(x)",
        "multimem_all_reduce_kernel",
        "AllGatherKernel",
        "myReduceScatter",
        "all_to_all_v",
        "symm_ALLREDUCE_two_shot",
        "ReDuCe_ScAtTeR",
        "alltoall",
    ],
    "memory": [
        "Memcpy HtoD (Pageable -> Device)",
        "Memset (Device)",
        "hipMemcpyAsync",
        "hipMemsetAsync",
        "dma_in",
        "CopyDeviceToDevice",
        "__amd_rocclr_copyBuffer",
        "__amd_rocclr_fillBufferAligned",
    ],
    "computation": [
        "void at::native::batch_norm_SyncBN<float>(x)",
        "SyncBatchNorm",
        "hipKernel",
        "gemm_nccl",
        "reduce_kernel",
        "my_Memcpy_like",
        "loadma",
        "scatter_gather_elementwise",
        "gather_all",
        "pe_exe",
        None,
    ],
}


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, names in KINDS.items() for n in names])
def test_kinds_of_names(con, kind, name):
    assert con.execute("SELECT kind_of_name($1::VARCHAR)", [name]).fetchall() == [(kind,)]


def activity(name="gemm", ts=0, dur=10, cat="kernel", pid=0, tid=7, **args) -> dict:
    return span(name, ts, dur, cat, pid, tid, **args)


def test_category_and_collective_come_before_the_name(tmp_path):
    events = [
        activity("ncclDevKernel_x", cat="gpu_memcpy"),
        activity("plain", **{"Collective name": "allreduce"}),
        activity("plain", **{"Collective name": ""}),
        activity("Memcpy HtoD", cat="gpu_memcpy", **{"Collective name": "send"}),
        activity("k", cat="Kernel"),
        activity("m", cat="Memset"),
        activity("dma0", cat="mtia_ccp_events"),
    ]
    archive = ingested(tmp_path, trace_text(events))
    assert rows(archive, "SELECT kind FROM gpu_activities ORDER BY event_id") == [
        ("memory",),
        ("communication",),
        ("computation",),
        ("memory",),
        ("computation",),
        ("memory",),
        ("memory",),
    ]


def test_computation_before_and_behind(tmp_path):
    """
    us          0    5    10   15   20   25
    stream 7    [==a=====)     [==b=)
    stream 9         [==c====)
    stream 20      [==d===============)
    memcpy                               [e)
    device 1    [==f=)
    """
    events = [
        activity("a", 0, 10),
        activity("b", 16, 6),
        activity("c", 5, 10, tid=9),
        activity("nccl d", 3, 20, tid=20, **{"Collective name": "allreduce"}),
        activity("e", 26, 2, cat="gpu_memcpy"),
        activity("f", 0, 5, pid=1, device=1),
        activity("g", 5, 0, cat="gpu_memset", pid=1, device=1),
    ]
    archive = ingested(tmp_path, trace_text(events))
    sql = "SELECT computed_before_ns, hidden_ns FROM gpu_activities ORDER BY event_id"
    assert rows(archive, sql) == [
        (0, None),
        (15_000, None),
        (5_000, None),
        (3_000, 18_000),
        (21_000, 0),
        (0, None),
        (5_000, 0),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_random_computation(tmp_path, seed):
    """Beside sets of whole microseconds."""
    rng = random.Random(seed)
    events, computed = [], {0: set(), 1: set()}
    for at in range(60):
        device, kind = rng.randrange(2), rng.choice(["gemm", "gemm", "Memcpy HtoD", "nccl_x"])
        start, dur = rng.randrange(100), rng.choice([0, 1, 3, 10, 40])
        cat = "gpu_memcpy" if kind == "Memcpy HtoD" else "kernel"
        events.append(activity(kind, start, dur, cat, pid=device, tid=at % 5, device=device))
        if kind == "gemm":
            computed[device].update(range(start, start + dur))
    archive = ingested(tmp_path, trace_text(events))
    sql = "SELECT computed_before_ns, hidden_ns FROM gpu_activities ORDER BY event_id"
    assert rows(archive, sql) == [
        (
            1000 * sum(at < e["ts"] for at in computed[e["pid"]]),
            None
            if e["name"] == "gemm"
            else 1000 * sum(e["ts"] <= at < e["ts"] + e["dur"] for at in computed[e["pid"]]),
        )
        for e in events
    ]


def test_having_a_stream_makes_no_activity(tmp_path):
    events = [
        span("triton_op", cat="cpu_op", stream=0),
        activity("Stream Sync", cat="cuda_sync", stream=7),
        activity("ProfilerStep#1", cat="gpu_user_annotation"),
        {**activity("k", stream=7), "ph": "i"},
    ]
    archive = ingested(tmp_path, trace_text(events))
    assert rows(archive, "SELECT count(*) FROM gpu_activities") == [(0,)]


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
