"""Rules of copies, the optimizer, repeated work and long steps, on drawn jobs."""

import pytest
from findings.drawn import H100, US, Job, Rules, drawn_steps

MS = 1_000 * US
PAGEABLE, PINNED = "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)"


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


def only(rows: list[dict]) -> dict:
    [row] = rows
    return row


def copy(job: Job, name: str, megabytes: int, dur_ns: int) -> None:
    job.launch(name, dur_ns, kind="memory", cat="gpu_memcpy", bytes=megabytes * 1_000_000)


def test_pageable_copies_gain_up_to_the_rate_of_pinned_ones(rules):
    def draw(job: Job) -> None:
        copy(job, PAGEABLE, 100, 20 * MS)
        copy(job, PINNED, 100, 2 * MS)  # 50 GB/s

    drawn_steps(Job(), draw).fill(rules)
    row = only(rules.found("pageable_copies"))
    assert row["gain_ns"] == 20 * MS - 2 * MS - 10 * US
    assert "at 5.0 GB/s; 50.0 GB/s is usual from pinned memory" in row["evidence"]


@pytest.mark.parametrize(("device", "gbps"), [(H100, 50), (None, 12)])
def test_without_pinned_copies_the_usual_rate_of_the_link_counts(rules, device, gbps):
    drawn_steps(Job(device), lambda job: copy(job, PAGEABLE, 60, 20 * MS)).fill(rules)
    expected = 20 * MS - 60_000_000 / gbps - 10 * US
    assert only(rules.found("pageable_copies"))["gain_ns"] == expected


@pytest.mark.parametrize(("dur_ns", "count"), [(5 * MS, 1), (3 * MS, 0)])
def test_pinned_copies_below_half_of_a_known_link(rules, dur_ns, count):
    drawn_steps(Job(), lambda job: copy(job, PINNED, 100, dur_ns)).fill(rules)
    assert len(rules.found("pageable_copies")) == count
    drawn_steps(Job(None), lambda job: copy(job, PINNED, 100, dur_ns)).fill(rules)
    assert rules.found("pageable_copies") == []


def test_hidden_copies_gain_nothing(rules):
    def draw(job: Job) -> None:
        job.launch("gemm", 30 * MS)
        job.launch(PAGEABLE, 20 * MS, stream=8, kind="memory", bytes=100_000_000)

    drawn_steps(Job(), draw).fill(rules)
    assert only(rules.found("pageable_copies"))["gain_ns"] == 0


def update(job: Job, parameters: int, size: int = 1 << 20) -> None:
    """Three operators per parameter: 2, 4 and 3 tensors of 4 bytes per element."""
    job.open("Optimizer.step#AdamW.step", "user_annotation")
    for _ in range(parameters):
        job.op("mul_", [[size], []], "float", ("mul", 20 * US))
        job.op("addcdiv_", [[size]] * 3 + [[]], "float", ("addcdiv", 40 * US))
        job.op("add_", [[size], [size], []], "float", ("add", 30 * US))
    job.close()


def test_optimizer_gains_down_to_one_pass(rules):
    drawn_steps(Job(), lambda job: update(job, 20)).fill(rules)
    row = only(rules.found("unfused_optimizer"))
    one_pass = 2 * 20 * 4 * 4 * (1 << 20) / (0.9 * 3352)
    assert row["gain_ns"] == pytest.approx(20 * 90 * US - one_pass, rel=1e-5)
    assert "60 kernels per step" in row["evidence"]


def test_optimizer_without_peaks_counts_the_costliest_operator_twice(rules):
    drawn_steps(Job(None), lambda job: update(job, 20)).fill(rules)
    assert only(rules.found("unfused_optimizer"))["gain_ns"] == 20 * (90 - 2 * 40) * US


def test_fused_and_small_optimizers_are_silent(rules):
    def fused(job: Job) -> None:
        job.open("Optimizer.step#AdamW.step", "user_annotation")
        for _ in range(100):
            job.op("_foreach_add_", None, "float", ("multi_tensor_apply_kernel", 20 * US))
            job.op("_fused_adam_", None, "float", ("fused", 20 * US))
        job.close()

    drawn_steps(Job(), fused).fill(rules)
    assert rules.found("unfused_optimizer") == []
    drawn_steps(Job(), lambda job: update(job, 16)).fill(rules)
    assert rules.found("unfused_optimizer") == []


@pytest.mark.parametrize("has_stacks", [False, True])
def test_recompute(rules, has_stacks):
    # Either numbers of autograd tell it, or functions of the checkpoint.
    repeated = {} if has_stacks else {"is_backward": True, "sequence_number": 7, "fwd_thread_id": 0}

    def draw(job: Job) -> None:
        dims = [[64, 64], [64, 64]]
        job.op("mm", dims, "float", ("gemm", 100 * US), sequence_number=7)
        if has_stacks:
            job.open("torch/utils/checkpoint.py(1121): unpack_hook", "python_function")
        job.op("mm", dims, "float", ("gemm", 100 * US), **repeated)
        job.op("add", [[64], [64], []], "float", ("add", 10 * US), **repeated)  # not before
        if has_stacks:
            job.close()
        job.op("mm", dims, "float", ("gemm", 90 * US), is_backward=True, sequence_number=None)

    drawn_steps(Job(), draw).fill(rules)
    row = only(rules.found("recompute"))
    assert row["gain_ns"] == 100 * US
    assert "repeats 33.3 % of the kernel time" in row["title"]


def drawn_lengths(host_ms: list[int], span: str = "collect") -> Job:
    """Steps with kernels of 10 ms, a wait for them, and a span of some ms on the host."""
    job = Job()
    for number, more in enumerate(host_ms):
        job.step(number)
        job.open("train.py(1): step", "python_function")
        job.launch("gemm", 10 * MS)
        job.wait()
        job.host(span, more * MS)
        job.close()
        job.close()
    return job


def test_long_steps(rules):
    drawn_lengths([2, 2, 2, 12, 2, 2, 2, 12, 2, 2, 2]).fill(rules)
    row = only(rules.found("step_variance"))
    # 10 steps count, without the first. Two of them take 10 ms more.
    assert row["gain_ns"] == 2 * MS and row["is_of_job"]
    assert row["subject"] == "collect"
    assert "2 of 10 steps take 22.0 ms on average; the median of all is 12.0 ms" in row["evidence"]
    assert (
        "time without GPU activities: 10.0 ms per long step. collect takes 10.0 ms more"
        in (row["evidence"])
    )
    assert rules.found("warm_up") == []


@pytest.mark.parametrize(
    "host_ms",
    [
        [2, 2, 2, 12, 2],  # four steps that count
        [2, 2, 2, 3, 2, 2, 3, 2, 2],  # 8 % longer
        [12, 2, 2, 2, 2, 2, 2, 2, 2],  # a long first step
    ],
)
def test_no_long_steps(rules, host_ms):
    drawn_lengths(host_ms).fill(rules)
    assert rules.found("step_variance") == []


def test_waits_of_a_host_that_is_ahead_are_no_long_steps(rules):
    """The device takes 20 ms for each step. The host waits for it in every fifth step only."""
    job = Job()
    for number in range(16):
        job.step(number)
        job.launch("gemm", 20 * MS)
        job.host("collect", MS)
        if number % 5 == 0:
            job.wait()
        job.close()
    job.fill(rules)
    assert rules.found("step_variance") == []


def test_long_first_steps_are_warm_up(rules):
    drawn_lengths([90, 40, 2, 2, 2, 2], "compile").fill(rules)
    row = only(rules.found("warm_up"))
    assert row["title"] == "The first 2 steps warm up" and row["gain_ns"] is None
    assert "takes 75.0 ms on average, a typical later step 12.0 ms" in row["evidence"]
    assert "compile takes 63.0 ms more" in row["evidence"]


def overhead(dur_ns: int) -> list[dict]:
    return [{"cat": "overhead", "name": "Buffer Flush", "start_ns": 0, "dur_ns": dur_ns}]


@pytest.mark.parametrize(("share", "count"), [(0.02, 1), (0.005, 0)])
def test_profiler_overhead(rules, share, count):
    job = drawn_steps(Job(), lambda job: job.op("mm", None, "float", ("gemm", MS)))
    job.fill(rules, overhead(int(share * job.now)))
    rows = rules.found("profiler_overhead")
    assert len(rows) == count
    assert all(row["gain_ns"] is None and row["subject"] == "Buffer Flush" for row in rows)


def test_stacks_are_overhead(rules):
    drawn_steps(Job(), lambda job: [job.host("f"), job.launch("gemm", MS)]).fill(rules)
    assert only(rules.found("profiler_overhead"))["subject"] == "Python stacks"


def test_without_steps_or_activities_there_is_nothing(rules):
    job = Job()
    job.op("mm", [[8, 8], [8, 8]], "float")
    job.fill(rules)
    for rule in (
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
    ):
        assert rules.found(rule) == [], rule


def test_waits_of_one_operator_do_not_count_for_another(rules):
    """item waits for 5 ms. nonzero waits for some µs; after it, the host computes for 3 ms."""

    def draw(job):
        job.launch("k", 5 * MS)
        job.open("aten::item")
        job.wait()
        job.close()
        job.launch("k", 10_000)
        job.open("aten::nonzero")
        job.wait()
        job.close()
        job.host("compute", 3 * MS)
        job.launch("k", MS)

    drawn_steps(Job(), draw).fill(rules)
    waits = {row["subject"]: row["gain_ns"] for row in rules.found("gpu_sync")}
    assert 0 < waits["aten::nonzero"] < 15_000
    [bound] = [row for row in rules.found("host_bound") if "compute" in row["title"]]
    assert abs(bound["gain_ns"] - 3 * MS) < 20_000
