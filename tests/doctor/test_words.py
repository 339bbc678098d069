"""The first sentence of a diagnosis, and the line on the job."""

import pytest
from doctor.made import diagnosis, finding, minor, split

from hta_sql.diagnosis.words import answer, cause, job_line, percent, place_of

SPLIT = "In a step, the GPU computes for 60.0 % of the time, is idle for 30.0 % and communicates "


def test_a_large_gain_comes_first():
    assert answer(diagnosis(finding(), minor())) == (
        "A step could take 20.0 % less time (2.00 ms): the GPU waits for the data loader. "
        f"{SPLIT}without computing for 10.0 %."
    )


def test_the_largest_part_is_named_whatever_the_finding_is_about():
    """1.8 % of data loading does not hide 84 % of communication."""
    found = answer(
        diagnosis(
            finding(severity="low", estimated_gain_frac=0.018, estimated_gain_ns=180_000),
            **split(
                compute_ns=1_200_000, exposed_communication_ns=8_400_000, exposed_memory_ns=400_000
            ),
        )
    )
    assert found == (
        "The GPU communicates without computing for 84.0 % of a step, and no finding explains more "
        "than 1.8 % of a step. It computes for 12.0 %."
    )


def test_idle_time_that_no_rule_explains_is_not_called_healthy():
    idle = split(idle_ns=9_999_000, compute_ns=1_000)
    assert answer(diagnosis(minor(), **idle)) == (
        "The GPU is idle for >99.9 % of a step, and no rule finds why. It computes for <0.1 %."
    )
    assert answer(diagnosis(**split(idle_ns=1))).endswith("and no rule finds why.")


def test_idle_time_before_the_first_activity_may_be_earlier_work():
    idle = split(idle_ns=5_000_000, compute_ns=5_000_000)
    found = answer(diagnosis(minor(), step_count=1, before_first_ns=4_000_000, **idle))
    assert found == (
        "The GPU is idle for 50.0 % of a step, and no rule finds why. It computes for 50.0 %. "
        "4.00 ms of the idle time come before the first GPU activity of the trace. Record several "
        "steps to see whether the GPU still does earlier work then."
    )
    for other in ({"step_count": 2}, {"before_first_ns": 2_000_000}):
        given = {"step_count": 1, "before_first_ns": 4_000_000} | other | idle
        assert "earlier work" not in answer(diagnosis(minor(), **given))


def test_little_or_nothing_to_gain():
    busy = split(compute_ns=9_700_000, idle_ns=300_000)
    little = finding(severity="low", estimated_gain_frac=0.021, estimated_gain_ns=210_000)
    assert answer(diagnosis(little, **busy)) == (
        "Nothing above low: the largest gain is 2.1 % of a step (210 µs), since the GPU waits for "
        "the data loader. In a step, the GPU computes for 97.0 % of the time."
    )
    assert answer(diagnosis(minor(), **busy)) == (
        "Nothing found to fix: no finding gains 1 % of a step or more. "
        "In a step, the GPU computes for 97.0 % of the time."
    )


def test_steps_that_differ_much():
    """The gain is of the median step, and the parts are of the mean step."""
    assert answer(diagnosis(finding(), unit_ns=8_000_000)) == (
        "A typical step of 8.00 ms could take 20.0 % less time (2.00 ms): the GPU waits for the "
        "data loader. On average over all steps, the GPU computes for 60.0 % of the time, is idle "
        "for 30.0 % and communicates without computing for 10.0 %."
    )
    assert answer(diagnosis(finding(), unit_ns=9_100_000)).startswith("A step could take")


def test_without_steps():
    top = finding(gain_unit="trace", title="Launched work starts late on an idle GPU")
    found = answer(diagnosis(top, unit="trace", step_count=None))
    assert found.startswith(
        "The traced work could take 20.0 % less time (2.00 ms): launched work starts late on an "
        "idle GPU. In the trace, the GPU computes for 60.0 % of the time, "
    )


NOTHING = dict.fromkeys(
    (
        "rank",
        "step_count",
        "unit_ns",
        "unit",
        "mean_ns",
        "compute_ns",
        "exposed_communication_ns",
        "exposed_memory_ns",
        "idle_ns",
        "before_first_ns",
    )
)


def test_without_gpu_activity():
    one = diagnosis(**NOTHING)
    assert answer(one) == (
        "The trace has no GPU activity, so it does not show how efficient the job is."
    )
    assert job_line(one) == "run: 1 rank, NVIDIA H100 80GB HBM3, no GPU activity"
    assert one.parts == [] and one.busy_frac is None


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("The GPU waits", "the GPU waits"),
        ("Kernels are short", "kernels are short"),
        ("aten::item waits", "aten::item waits"),
        ("NCCL is slow", "NCCL is slow"),
        ("FP32 products", "FP32 products"),
        ("DataLoader", "DataLoader"),
    ],
)
def test_a_title_within_a_sentence(title, said):
    assert cause(diagnosis(), finding(title=title)) == said
    assert cause(diagnosis(rank_count=8), finding(title=title, rank=3)) == f"on rank 3, {said}"
    assert cause(diagnosis(rank_count=8), finding(title=title, rank=None)) == said


def test_the_line_on_the_job():
    assert job_line(diagnosis()) == (
        "run: 1 rank, NVIDIA H100 80GB HBM3, median of 5 steps 10.0 ms, GPU busy 70.0 %"
    )
    assert job_line(diagnosis(rank_count=2, world_size=128, rank=1, device_name="")) == (
        "run: 2 of 128 ranks, median of 5 steps 10.0 ms on rank 1, GPU busy 70.0 %"
    )
    assert ", one step of 10.0 ms, " in job_line(diagnosis(step_count=1))
    assert job_line(diagnosis(unit="trace", step_count=None, world_size=None)) == (
        "run: 1 rank, NVIDIA H100 80GB HBM3, no steps, 10.0 ms from first to last GPU activity, "
        "GPU busy 70.0 %"
    )


def test_ranks_of_a_finding():
    eight = diagnosis(rank_count=8)
    assert place_of(diagnosis(), finding()) == ""
    assert place_of(eight, finding(rank=5)) == "rank 5"
    common = finding(rank=None, evidence_numbers={"ranks": list(range(8))})
    assert place_of(eight, common) == "all ranks"
    most = finding(rank=None, evidence_numbers={"ranks": list(range(6))})
    assert place_of(eight, most) == "6 ranks"


def test_shares_that_are_not_quite_0_or_1():
    assert [percent(share) for share in (0, 0.0004, 0.0005, 0.9994, 0.9996, 1)] == [
        "0.0 %",
        "<0.1 %",
        "0.1 %",
        "99.9 %",
        ">99.9 %",
        "100.0 %",
    ]
