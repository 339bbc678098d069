"""The rules of idle time on jobs with a planted fault. The truth is the same job without it."""

import pytest
from findings.conftest import ALONE
from findings.planted import assert_found

# What the generator calls the fault's operator, call or function.
NAMES = {
    "host_bound": "update_schedule",
    "launch_overhead": "aten::add",
    "slow_launches": "cudaLaunchKernel",
    "stalled_after_launch": "cudaMemcpyAsync",
    "data_loading": "DataLoader",
    "gpu_sync": "aten::item",
    "memory_thrash": "cudaFree",
}


@pytest.mark.parametrize("where", ["alone", "on_all", "on_one"])
@pytest.mark.parametrize("rule", ALONE)
def test_fault_is_found_first_with_its_gain(planted, rule, where):
    job = planted[f"{rule}_{where}"]
    assert [fault.rule for fault in job.faults] == [rule]
    assert_found(job)
    row = job.rows[0]
    assert row["severity"] == "high"
    assert NAMES[rule] in row["subject"] + row["title"] + row["evidence"]
    assert row["gain_unit"] == "step" and row["gain_method"] == "exposed idle"


def test_healthy_job_has_nothing_above_low(planted):
    assert {row["severity"] for row in planted["healthy"].rows} <= {"info", "low"}
