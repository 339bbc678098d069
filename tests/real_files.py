"""The real traces: where they are and what each file is."""

from pathlib import Path
from typing import NamedTuple

SHARED = Path(__file__).resolve().parents[2] / "shared"


TRACES = SHARED / "traces"


HTA_OUTPUTS = SHARED / "reference" / "hta-outputs"


class TraceFile(NamedTuple):
    job: str
    rank: int
    path: str  # from the folder of traces
    has_gpu: bool = True


# What each file is, as its README and its own `distributedInfo` say; 0 where no rank is told.
TRACE_FILES = (
    TraceFile("alexnet", 0, "alexnet/trace.json.gz"),
    TraceFile("amd_mi250", 0, "amd_mi250/mi250_minitoy_train.json.gz"),
    TraceFile("b200_eager", 0, "b200_eager/rank0.json.gz"),
    TraceFile("backward_thread", 0, "backward_thread/backward_thread.json"),
    TraceFile("cpu_only", 34, "cpu_only/rank-34.pt.trace.json.gz", has_gpu=False),
    TraceFile("cupti_counters", 0, "cupti_counters/trace.json.gz", has_gpu=False),
    TraceFile("event_sync", 0, "event_sync/trace.json.gz"),
    TraceFile("event_sync_multi_stream", 0, "event_sync_multi_stream/trace.json.gz"),
    TraceFile("execution_trace", 0, "execution_trace/simple_add_trace.json.gz"),
    TraceFile("external_id_gemm", 0, "external_id_gemm/gemm_01_compute_few_tiles.json"),
    TraceFile("h100_bert", 0, "h100_bert/trace.json.gz"),
    TraceFile("mi210_gpu_only", 0, "mi210_gpu_only/trace.json.gz"),
    TraceFile("mi300_bert", 0, "mi300_bert/trace.json.gz"),
    TraceFile("mtia_inference", 0, "mtia_inference/rank_0.json.gz"),
    TraceFile("nccl", 0, "nccl/rank0.json.gz"),
    TraceFile("no_gpu_events", 0, "no_gpu_events/rank_non_gpu.json.gz", has_gpu=False),
    TraceFile("ns_resolution", 0, "ns_resolution/rank-0.pt.trace.json.gz"),
    TraceFile("old_autograd_no_workers", 0, "old_autograd_no_workers/worker0.pt.trace.json.gz"),
    TraceFile("rank_missing", 0, "rank_missing/rank_not_found.json.gz", has_gpu=False),
    TraceFile("sglang_prefill", 0, "sglang_prefill/sglang_Qwen3-8B_prefilldecode.json.gz"),
    TraceFile("simple_add", 0, "simple_add/trace.json.gz"),
    TraceFile("torch_compile_triton", 0, "torch_compile_triton/trace.json.gz"),
    TraceFile("trace_compare/base", 1, "trace_compare/base/base.json.gz"),
    TraceFile("trace_compare/test", 1, "trace_compare/test/test.json.gz"),
    TraceFile("trace_diff/control", 3, "trace_diff/control/rank3.json.gz"),
    TraceFile("trace_diff/test", 1, "trace_diff/test/rank1.json.gz"),
    TraceFile("triton", 0, "triton/triton_example.json.gz"),
    TraceFile("two_ranks", 0, "two_ranks/sampled_rank-0.json.gz"),
    TraceFile("two_ranks", 1, "two_ranks/sampled_rank-1.json.gz"),
    TraceFile("vllm_decode", 0, "vllm_decode/graph_execution.json.gz"),
    TraceFile(
        "vllm_decode_capture",
        0,
        "vllm_decode_capture/graph_capture_rank_0.1773709742341309550.pt.trace.json.gz",
    ),
)


# Its kernels have the External id of their launches, by which ingest does not link yet: they have
# no launch, no operator and no queue. Who launched what is an issue of its own (Who is who).
UNLINKED = {"external_id_gemm"}


# The jobs of a quick run: small ones, with and without a GPU, of one rank and of two.
QUICK = {"backward_thread", "h100_bert", "trace_compare/base", "trace_compare/test", "two_ranks"}


# Found beside them, but no traces.
OTHER_FILES = {"execution_trace/et/simple_add_et.json.gz"}
