"""The names that steps share, in queries and in the flame graph."""

import pytest
from hand_written import ingested, span, trace_text

from hta_sql.plot.work import step_label

# The names that servers give their steps, and what all steps share.
STEP_LABELS = {
    "ProfilerStep#12": "ProfilerStep",
    "ProfilerStep # 3": "ProfilerStep",
    "ProfilerStep": "ProfilerStep",
    "execute_context_1(888_788544)_generation_0(0)": "execute",
    "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk5sqsq32sqsk5)": "execute",
    "execute_new_2_cached_30": "execute",
    "execute_model": "execute_model",
    "step[EXTEND bs=15 toks=15360]": "step[EXTEND]",
    "step[DECODE]": "step[DECODE]",
    "step[DRAFT_EXTEND_V2 bs=2 c_sq=5]": "step[DRAFT_EXTEND_V2]",
    "step[decode bs=1]": "step[decode bs=1]",
    "decode[bs=117/128 tok=117 d=117]": "decode",
    "eager_decode[bs=2 tok=2]": "eager_decode",
    "prefill[bs=2 tok=14721 ctx=[7803, 6918]]": "prefill",
    "my_prefill[bs=2]": "my_prefill[bs=2]",
    "[Executor] _forward_step 12: 0 ctx reqs, 8 gen reqs": "[Executor] _forward_step",
    "[Executor] _forward_step": "[Executor] _forward_step",
    "forward": "forward",
}


@pytest.mark.parametrize("name", STEP_LABELS)
def test_step_labels(host, name):
    """Queries and the flame graph put the steps of a server under one name."""
    assert host.con.execute("SELECT step_label(?)", [name]).fetchone() == (STEP_LABELS[name],)
    assert step_label(name) == STEP_LABELS[name]


def test_steps_of_any_program_have_one_name(tmp_path):
    """Their numbers make neither a reason for idle time nor a stage of each step."""
    events = []
    for step in range(8):
        at = 1000 * step
        events += [
            span(f"train_step {step}", at, 900, "user_annotation"),
            span("forward 2", at + 100, 100, "user_annotation"),
            span("cudaLaunchKernel", at + 700, 5, "cuda_runtime", correlation=step + 1),
            span("k", at + 710, 100, "kernel", 0, 7, device=0, stream=7, correlation=step + 1),
        ]
    with ingested(tmp_path, trace_text(events)) as run:
        reasons = run.idle_reasons().to_pylist()
        [job] = {row["job"] for row in reasons}
        stages = run.annotation_diff(base_job=job, test_job=job).to_pylist()
    assert {row["name"] for row in reasons} == {
        None,
        "train_step N",
        "forward 2",
        "cudaLaunchKernel",
    }
    assert {row["name"]: row["base_count"] for row in stages} == {"train_step N": 8, "forward 2": 8}
