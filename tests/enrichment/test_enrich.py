"""What ingest derives of activities: names, kinds, computation."""

import random

import duckdb
import pytest
from enrichment.rows import activity
from hand_written import ingested, rows, span, trace_text
from seeds import seeds

from hta_sql.catalogue.root import sql_root


@pytest.fixture(scope="module")
def con():
    con = duckdb.connect()
    for name in ("categories", "kernel_kind", "demangled_name", "kernel_words", "short_name"):
        con.execute((sql_root() / "relations/names" / f"{name}.sql").read_text())
    return con


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("my_sgemm_128x64_tn", "my_sgemm_128x64_tn"),
        ("triton_poi_fused_add_0", "Inductor pointwise: add"),
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


@pytest.mark.parametrize("seed", seeds(6))
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
