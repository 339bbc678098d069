"""What a gain is measured against, if the annotations of steps do not touch."""

import pytest
from hand_written import ingested, span, trace_text


def server(period: int, kernel: int, steps: int = 8) -> list[dict]:
    """Steps of vLLM every `period` us. Each takes the host 100 us, and the GPU `kernel` us."""
    events = []
    end = 0
    for number in range(steps):
        at = period * number
        events += [
            span(f"execute_context_0(0)_generation_{number}({number})", at, 100, "user_annotation"),
            span("cudaLaunchKernel", at + 10, 5, "cuda_runtime", correlation=number + 1),
        ]
        start = max(at + 20, end)
        end = start + kernel
        events.append(
            span("k", start, kernel, "kernel", 0, 7, device=0, stream=7, correlation=number + 1)
        )
    return events


def test_pauses_between_annotations_count(tmp_path):
    """
    us       0            1000
    host     [execute)    [execute)
    launch    10           1010
    stream    [20 == k ==== 620)  [1020 == k ==
    idle                    390 for the host, 5 in the launch, 5 queued
    """
    with ingested(tmp_path, trace_text(server(1000, 600))) as run:
        [finding] = [row for row in run.findings().to_pylist() if row["rule"] == "host_bound"]
        [split] = run.sql("FROM job_splits(NULL)").to_pylist()
    assert (finding["estimated_gain_ns"], finding["gain_unit"]) == (395_000, "step")
    assert finding["estimated_gain_frac"] == 0.395
    assert (split["mean_ns"], split["idle_ns"], split["unit_ns"]) == (1_000_000, 400_000, 1_000_000)


def test_work_that_goes_on_after_the_annotation(tmp_path):
    """The host is done early; the GPU, which is never idle, sets the pace: 600 us per step."""
    with ingested(tmp_path, trace_text(server(200, 600))) as run:
        [split] = run.sql("FROM job_splits(NULL)").to_pylist()
    assert (split["mean_ns"], split["idle_ns"], split["unit_ns"]) == (600_000, 0, 600_000)


@pytest.mark.parametrize("period", [100, 150])
def test_profiler_steps_stay_as_they_are(tmp_path, period):
    events = [
        event | {"name": f"ProfilerStep#{event['ts'] // period}"}
        if event["cat"] == "user_annotation"
        else event
        for event in server(period, 30)
    ]
    with ingested(tmp_path, trace_text(events)) as run:
        [split] = run.sql("FROM job_splits(NULL)").to_pylist()
    assert split["unit_ns"] == 100_000
