"""The rules of kernels and steps on real traces, looked at by hand in the timeline."""

import pytest

RULES = {
    "far_from_roofline",
    "full_precision",
    "layout_copies",
    "pageable_copies",
    "profiler_overhead",
    "recompute",
    "step_variance",
    "unfused_elementwise",
    "unfused_optimizer",
    "warm_up",
}
# Job, rule and what the finding names.
EXPECTED = {
    # A ResNet in float32 on a V100. The GPU is busy all the time.
    "ns_resolution": {
        ("full_precision", "aten::convolution_backward"),
        ("layout_copies", "aten::cudnn_convolution"),
    },
    # MIOpen converts between the layouts of the program and of its kernels.
    "mi210_gpu_only": {("layout_copies", "batched_transpose_16x64_pack_1x4_ediv_1x2_half")},
    # The host bounds this step, so that most kernels gain nothing. The vocabulary has 30522 words.
    "h100_bert": {
        ("far_from_roofline", "aten::addmm (m = 141, n = 30522, k = 512)"),
        ("profiler_overhead", "Python stacks"),
    },
}


@pytest.fixture(scope="module")
def found(real_run) -> dict[str, list[dict]]:
    rows = real_run.query("findings", only_jobs=list(EXPECTED)).to_pylist()
    return {job: [row for row in rows if row["job"] == job] for job in EXPECTED}


@pytest.mark.parametrize("job", EXPECTED)
def test_findings_of_a_real_trace(found, job):
    rows = [row for row in found[job] if row["rule"] in RULES]
    assert {(row["rule"], row["subject"]) for row in rows} == EXPECTED[job]


def test_float32_is_the_largest_gain_of_the_resnet(found):
    row = found["ns_resolution"][0]
    # 58.7 ms of kernels in a step of 95.6 ms; the shapes are not recorded, so a third remains.
    assert row["rule"] == "full_precision" and row["severity"] == "high"
    assert row["estimated_gain_ns"] == pytest.approx(58_700_000 * 2 / 3, rel=0.01)
