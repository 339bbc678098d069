"""gpu_efficiency on real traces, against plain Python. HTA has no such figures."""

import math
from collections import defaultdict

import pytest
from queries.brute_gpu_efficiency import gpu_efficiency
from real_files import TRACES, TraceFile

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)

# How the names of these traces' kernels on tensor cores begin, or what is in them.
BEGIN = (
    "nvjet_",
    "sm90_xmma_",
    "sm80_xmma_",
    "Cijk_",
    "igemm_",
    "fmhaSm100a",
    "bmm_",
    "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolution",
)
INSIDE = ("_tensorop_", "flash_fwd_kernel", "s16816gemm")
# The second adds up what the parts of a split product computed.
NEVERTHELESS_NOT = ("execute_split_k_kernel", "_PostGSU")


def on_tensor_cores(name: str) -> bool:
    if any(part in name for part in NEVERTHELESS_NOT):
        return False
    return name.startswith(BEGIN) or any(part in name for part in INSIDE)


@pytest.fixture(scope="session")
def results(real_run) -> dict:
    found = defaultdict(list)
    for row in real_run.gpu_efficiency().to_pylist():
        found[row["job"], row["rank"]].append(row)
    return found


@pytest.fixture(scope="session")
def file(trace_file: TraceFile) -> TraceFile:
    return trace_file


def test_recomputed(results, real_rows, file):
    wanted = list(gpu_efficiency(real_rows("gpu_activities", file.job, file.rank), on_tensor_cores))
    found = results[file.job, file.rank]
    assert bool(found) == file.has_gpu
    assert len(found) == len(wanted)
    for row, other in zip(found, wanted, strict=True):
        assert row.keys() == other.keys()
        for column in row:
            if isinstance(other[column], float):
                # Blocks per SM have ten digits, of which 1e-12 keeps nine of the smallest.
                assert math.isclose(row[column], other[column], rel_tol=1e-9, abs_tol=1e-12)
            else:
                assert row[column] == other[column]


def test_volta_in_single_precision_has_no_tensor_cores(results):
    """V100s, whose tensor cores know no TF32, in 32 bits."""
    for job, rank in [("ns_resolution", 0), ("trace_diff/test", 1)]:
        [row] = results[job, rank]
        assert row["tensor_core_ns"] == 0
        assert row["sm_efficiency_frac"] > 0.6


def test_every_known_family_comes_up(results):
    """B200 and H100 in bf16, A100 in TF32, MI210, MI250 and MI300: all are on tensor cores."""
    for job, percent in [
        ("b200_eager", 60),
        ("h100_bert", 77),
        ("trace_diff/control", 15),
        ("nccl", 24),
        ("mi210_gpu_only", 32),
        ("amd_mi250", 27),
        ("mi300_bert", 45),
    ]:
        [row] = [row for (of_job, _), rows in results.items() if of_job == job for row in rows]
        assert round(100 * row["tensor_core_frac"]) == percent


def test_arguments_are_nvidias(results):
    """ROCm's profiler gives neither occupancy nor blocks per SM, nor do MTIA's and that of 2021."""
    without = {
        row["job"] for rows in results.values() for row in rows if row["occupancy_frac"] is None
    }
    assert without == {
        "amd_mi250",
        "external_id_gemm",
        "mi210_gpu_only",
        "mi300_bert",
        "mtia_inference",
        "old_autograd_no_workers",
        "sglang_prefill",
        "torch_compile_triton",
        "vllm_decode",
        "vllm_decode_capture",
    }
