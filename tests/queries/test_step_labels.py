"""The names that steps share, in queries and in the flame graph."""

import pytest

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
