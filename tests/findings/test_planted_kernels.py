"""The rules of kernels and steps on jobs with a planted fault. The truth is the job without it."""

import pytest
from findings.planted import Planted, assert_found, planted_jobs

# What the generator calls the fault's operator, kernel or function.
NAMES = {
    "far_from_roofline": "k = 4097 is no multiple of 8",
    "full_precision": "cuBLAS gemm fp32 128x64 tn",
    "layout_copies": "aten::contiguous",
    "pageable_copies": "Memcpy HtoD (Pageable -> Device)",
    "recompute": "checkpointing",
    "step_variance": "<built-in function collect>",
    "unfused_elementwise": "aten::tanh",
    "unfused_optimizer": "Optimizer.step",
}
WITHOUT_GAIN = {"profiler_overhead": "Activity Buffer Request", "warm_up": "cudaLaunchKernel"}
PAIRS = ("recompute,full_precision", "far_from_roofline,layout_copies")
JOBS = {
    **{f"{rule}_alone": {"ranks": 1, "steps": 7, "bottleneck": rule} for rule in NAMES},
    **{rule: {"ranks": 1, "steps": 7, "bottleneck": rule} for rule in WITHOUT_GAIN},
    **{f"{rule}_on_one": {"layers": 2, "bottleneck": f"{rule}@2"} for rule in list(NAMES)[::2]},
    **{pair: {"ranks": 2, "bottleneck": pair} for pair in PAIRS},
}


@pytest.fixture(scope="module")
def planted_kernels(tmp_path_factory) -> dict[str, Planted]:
    """The jobs of JOBS by name."""
    return planted_jobs(tmp_path_factory.mktemp("planted"), JOBS)


@pytest.mark.parametrize("name", [name for name in JOBS if name not in WITHOUT_GAIN])
def test_fault_is_found_first_with_its_gain(planted_kernels, name):
    job = planted_kernels[name]
    assert_found(job)
    for fault in job.faults:
        row = job.row_of(fault.rule)
        assert NAMES[fault.rule] in row["subject"] + row["title"] + row["evidence"]
        assert row["gain_unit"] == "step"


@pytest.mark.parametrize("rule", WITHOUT_GAIN)
def test_rules_without_a_gain_are_info_and_last(planted_kernels, rule):
    rows = planted_kernels[rule].rows
    row = planted_kernels[rule].row_of(rule)
    assert row["severity"] == "info" and row["estimated_gain_ns"] is None
    assert WITHOUT_GAIN[rule] in row["subject"]
    assert {r["estimated_gain_ns"] for r in rows[rows.index(row) :]} == {None}
