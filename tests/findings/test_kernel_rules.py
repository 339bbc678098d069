"""Rules of single kernels, on drawn jobs whose gains can be counted by hand."""

import pytest
from findings.drawn import A100, BF16, US, Job, Rules, drawn_steps

MS = 1_000 * US
SGEMM = "ampere_sgemm_128x64_tn"
CONV_TEXTS = {3: "[1, 1]", 4: "[1, 1]", 5: "[1, 1]", 6: "False", 7: "[0, 0]"}


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


def only(rows: list[dict]) -> dict:
    [row] = rows
    return row


def filled(rules: Rules, draw, device_name: str | None = A100, **more) -> None:
    drawn_steps(Job(device_name), draw, **more).fill(rules)


def square(job: Job, types="float", kernel=SGEMM, dur_ns=8 * MS) -> None:
    """2 x 4096^3 = 137.4e9 operations."""
    job.op("mm", [[4096, 4096], [4096, 4096]], types, (kernel, dur_ns))


def test_float32_gains_down_to_the_roof_in_tf32(rules):
    filled(rules, square)
    row = only(rules.found("full_precision"))
    # TF32: 156e12 operations per second, of which kernels reach 70 %: 1.2586 ms. A ratio of 8
    # alone would leave 1 ms.
    assert row["gain_ns"] == pytest.approx(8 * MS - 2 * 4096**3 / 156e3 / 0.7, rel=1e-6)
    assert row["subject"] == "aten::mm" and "TF32 is 8.0 times as high" in row["evidence"]


def test_float32_without_shapes_goes_by_the_kernel(rules):
    filled(rules, lambda job: job.op("mm", None, BF16, (SGEMM, 9 * MS), ("reduce", MS)))
    assert only(rules.found("full_precision"))["gain_ns"] == 6 * MS
    assert only(rules.found("full_precision"))["confidence"] == "low"


@pytest.mark.parametrize(
    ("draw", "device"),
    [
        (square, None),
        (square, "AMD Radeon Graphics"),
        (lambda job: square(job, kernel="cutlass_80_tensorop_s1688gemm_128x128"), A100),
        (lambda job: square(job, BF16, "ampere_bf16_s16816gemm"), A100),
        (lambda job: square(job, BF16, "volta_fp16_sgemm_fp16_128x64_nn"), A100),
    ],
)
def test_no_finding_without_peaks_or_with_tensor_cores(rules, draw, device):
    filled(rules, draw, device)
    assert rules.found("full_precision") == []


def test_kernels_before_a_late_launch_gain_nothing(rules):
    def half_starved(job: Job) -> None:
        square(job)
        job.host("train.py(1): log", 20 * MS)
        square(job)

    filled(rules, half_starved)
    half = only(rules.found("full_precision"))["gain_ns"]
    assert half == pytest.approx(8 * MS - 2 * 4096**3 / 156e3 / 0.7, rel=1e-6)


SHAPES = {
    "misaligned": ("mm", [[4096, 4097], [4097, 4096]], {}, "k = 4097 is no multiple of 8"),
    "skinny": ("mm", [[65536, 1024], [1024, 32]], {}, "tall and skinny (n = 32)"),
    "experts": ("bmm", [[64, 16, 4096], [64, 4096, 4096]], {}, "small batches per expert"),
    "tokens": ("mm", [[8, 8192], [8192, 8192]], {}, "few rows meet a large matrix"),
    "grouped": ("_grouped_mm", [[512, 2048], [64, 2048, 2048], [64]], {}, "few rows per expert"),
    "depthwise": (
        "convolution",
        [[32, 256, 56, 56], [256, 1, 3, 3], [], [], [], [], [], [], []],
        CONV_TEXTS | {8: "256"},
        "it is depthwise",
    ),
    "dilated": (
        "convolution",
        [[32, 256, 56, 56], [256, 256, 3, 3], [], [], [], [], [], [], []],
        CONV_TEXTS | {5: "[4, 4]", 4: "[4, 4]", 8: "1"},
        "it is dilated (4)",
    ),
    "few channels": (
        "convolution",
        [[256, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []],
        CONV_TEXTS | {8: "1"},
        "input channels = 3 is no multiple of 8",
    ),
    "short sequences": (
        "_scaled_dot_product_flash_attention",
        [[256, 16, 64, 64]] * 3 + [[], [], [], []],
        {3: "0.", 4: "False"},
        "the sequences are short (64 queries, 64 keys)",
    ),
    "head size": (
        "_scaled_dot_product_flash_attention",
        [[8, 16, 2048, 256]] * 3 + [[], [], [], []],
        {3: "0.", 4: "False"},
        "the head size is 256",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_far_from_roofline_names_the_reason(rules, shape):
    name, dims, texts, reason = SHAPES[shape]
    filled(rules, lambda job: job.op(name, dims, BF16, ("gemm", 100 * MS), texts=texts))
    row = only(rules.found("far_from_roofline"))
    assert reason in row["evidence"]
    assert row["title"].startswith(f"aten::{name} reaches")
    assert 0.9 * 100 * MS < row["gain_ns"] < 100 * MS


def test_gain_is_the_time_above_70_percent_of_the_roof(rules):
    # 2 x 4096^2 x 4097 operations at 312e12 per second: 0.4406 ms
    filled(rules, lambda job: job.op("mm", [[4096, 4097], [4097, 4096]], BF16, ("gemm", 2 * MS)))
    row = only(rules.found("far_from_roofline"))
    assert row["gain_ns"] == pytest.approx(2 * MS - 2 * 4096**2 * 4097 / 312e3 / 0.7, rel=1e-6)


def test_too_few_tiles(rules):
    def draw(job: Job) -> None:
        job.open(
            "aten::mm", input_dims="[[512,8192],[8192,512]]", input_types=f'["{BF16}","{BF16}"]'
        )
        job.launch("gemm", MS, blocks_per_sm=0.25)
        job.close()

    filled(rules, draw)
    assert "its tiles are too few: 0.2 blocks" in only(rules.found("far_from_roofline"))["title"]


def test_without_a_reason_the_best_of_the_rank_is_the_target(rules):
    def draw(job: Job) -> None:
        job.op("mm", [[4096, 8192], [8192, 4096]], BF16, ("gemm", 4 * MS))  # 22.0 %
        job.op("mm", [[8192, 4096], [4096, 8192]], BF16, ("gemm", 4 * MS))  # 44.0 %

    filled(rules, draw)
    row = only(rules.found("far_from_roofline"))
    assert row["gain_ns"] == pytest.approx(2 * MS, rel=1e-3) and row["confidence"] == "low"


@pytest.mark.parametrize(
    ("dims", "dur_ns", "device"),
    [
        ([[4096, 4097], [4097, 4096]], 2 * MS, None),  # no peaks
        ([[4096, 4097], [4097, 4096]], 600 * US, A100),  # 73 %
        ([[64, 65], [65, 64]], 9 * US, A100),  # too short
    ],
)
def test_no_finding_near_the_roof_or_for_short_kernels(rules, dims, dur_ns, device):
    filled(rules, lambda job: job.op("mm", dims, BF16, ("gemm", dur_ns)), device)
    assert rules.found("far_from_roofline") == []


def test_fused_chain_reads_and_writes_once(rules):
    def draw(job: Job) -> None:
        big = [1 << 24]
        job.op("mul", [big, []], "float", ("mul", 200 * US))
        job.op("add", [big, big, []], "float", ("add", 300 * US))
        job.op("tanh", [big], "float", ("tanh", 200 * US))
        job.op("mm", [[64, 64], [64, 64]], "float", ("gemm", 5 * US))
        job.op("sigmoid", [big], "float", ("sigmoid", 200 * US))  # alone
        job.op("add_", [big, big, []], "float", ("add", 300 * US))
        job.op("add_", [big, big, []], "float", ("add", 300 * US))

    filled(rules, draw)
    row = only(rules.found("unfused_elementwise"))
    # mul: its result of 2; add: the result of mul and its own of 3; tanh: that of add of 2. And
    # sigmoid and the first add_.
    saved = 200 / 2 + 300 * 2 / 3 + 200 / 2 + 200 / 2 + 300 / 3
    assert row["gain_ns"] == saved * US
    assert row["subject"] == "aten::add, aten::tanh, aten::sigmoid, aten::mul"


def test_layout_copies_by_operator(rules):
    copy = "void at::native::elementwise_kernel<direct_copy_kernel_cuda>"

    def draw(job: Job) -> None:
        job.op(
            "copy_", [[8, 8]] * 2 + [[]], "float", (copy, 50 * US), inside=["contiguous", "clone"]
        )
        job.op("copy_", [[8, 8]] * 2 + [[]], "float", (copy, 70 * US))  # somebody's own copy
        job.op("cudnn_convolution", None, BF16, ("cudnn::ops::nchwToNhwcKernel<a>", 20 * US))

    filled(rules, draw)
    rows = {row["subject"]: row["gain_ns"] for row in rules.found("layout_copies")}
    assert rows == {"aten::contiguous": 50 * US, "aten::cudnn_convolution": 20 * US}


def test_without_shapes_only_names_tell(rules):
    def draw(job: Job) -> None:
        job.op("mul", None, BF16, ("mul", 200 * US))
        job.op("add", None, BF16, ("add", 200 * US))
        job.op("mm", None, BF16, ("gemm", 50 * MS))

    filled(rules, draw)
    for rule in ("far_from_roofline", "full_precision", "unfused_elementwise"):
        assert rules.found(rule) == []
