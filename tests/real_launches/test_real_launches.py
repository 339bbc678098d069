"""Launches of real traces, in plain Python and against HTA."""

from collections import Counter, defaultdict

import pytest
from hta_cases import CASES, HTA_OUTPUTS, Case, needs_hta_outputs
from queries import brute_launches
from queries.small_tables import same
from real_files import TRACES

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


QUERIES = ("launch_stats", "launch_summary", "op_launch_delay")


GIVEN = (
    {},
    {"runtime_cutoff_ns": 5000, "launch_delay_cutoff_ns": 2500, "include_memory": False},
    {"only_steps": [4, 100, 103, 551, 1010]},
)


def test_plain_python_says_the_same(real_run, real_rows, file):
    of_trace = {"only_jobs": [file.job], "only_ranks": [file.rank]}
    activities = real_rows("gpu_activities", file.job, file.rank)
    ops = real_rows("host_ops", file.job, file.rank)
    for query in QUERIES:
        for given in GIVEN:
            if query == "op_launch_delay" and "include_memory" in given:
                continue
            wanted = list(getattr(brute_launches, query)(activities, ops, **given))
            found = real_run.query(query, **of_trace, **given).to_pylist()
            assert len(found) == len(wanted)
            pairs = zip(found, wanted, strict=True)
            assert [pair for pair in pairs if not same(*pair)][:1] == [], (query, given)


def test_what_real_traces_show(real_run):
    """Cases come up; no activity of these traces starts before its launch."""
    stats = real_run.launch_stats().to_pylist()
    for flag in ("is_short", "is_runtime_outlier", "is_delay_outlier"):
        assert {row[flag] for row in stats} == {False, True}
    summaries = real_run.launch_summary().to_pylist()
    assert [row["early_start_count"] for row in summaries if row["early_start_count"]] == []
    delays = real_run.op_launch_delay().to_pylist()
    assert {row["job"] for row in delays} >= {"amd_mi250", "mi300_bert"}
    assert any(" | " in row["sequence"] and row["count"] > 100 for row in delays)


# Launch statistics.

HTA_LAUNCHES = {
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "runFunction - job_prep_and_submit_for_execution",
}


MISSED = {  # activities by the name of their launch, in the steps that HTA kept
    "amd_mi250": {"hipLaunchKernel": 12, "hipExtModuleLaunchKernel": 2, "hipMemcpyWithStream": 2},
    "b200_eager": {"cuLaunchKernelEx": 220, "cuLaunchKernel": 1},
    "h100_bert": {"cuLaunchKernel": 22},
    "mi210_gpu_only": {"hipLaunchKernel": 223, "hipExtModuleLaunchKernel": 339},
    "mi300_bert": {
        "hipLaunchKernel": 30,
        "hipExtModuleLaunchKernel": 26,
        "hipModuleLaunchKernel": 4,
        "hipMemcpyWithStream": 1,
    },
    "mtia_inference": {
        "recordEvent": 224,
        "enqueueCommand waitOnEvent": 37,
        "enqueueCommand memcpyHtoDAsync": 333,
        "enqueueCommand memcpyDtoHAsync": 324,
    },
    "trace_diff_test": {"cudaGraphLaunch": 4205},
    "triton": {"cuLaunchKernel": 1},
}


ALL_STEPS = [pytest.param(case, id=str(case)) for case in CASES if not case.last_step]


def steps_of(case: Case) -> list[int] | None:
    return case.steps and list(case.steps)


@needs_hta_outputs
@pytest.mark.parametrize("case", ALL_STEPS)
def test_launch_stats_of_hta(real_run, case):
    """The same launches and activities, with the same times."""
    hta, ours, missed = defaultdict(list), defaultdict(list), Counter()
    for row in case.csv("get_cuda_kernel_launch_stats"):
        hta[int(row["rank"]), int(row["correlation"])].append(
            [1000 * float(row[name]) for name in ("cpu_duration", "gpu_duration", "launch_delay")]
        )
    found = real_run.launch_stats(only_jobs=[case.job], only_steps=steps_of(case)).to_pylist()
    for row in found:
        if row["launch_name"] in HTA_LAUNCHES:
            ours[row["rank"], row["correlation"]].append(
                [row["cpu_ns"], row["gpu_ns"], row["launch_delay_ns"]]
            )
        else:
            missed[row["launch_name"]] += 1
    assert ours.keys() == hta.keys()
    for key in hta:
        for our_times, hta_times in zip(sorted(ours[key]), sorted(hta[key]), strict=True):
            # A duration is as in the trace; a delay is the difference of two instants.
            assert our_times[:2] == pytest.approx(hta_times[:2], abs=0.001), key
            assert our_times[2] == pytest.approx(hta_times[2], abs=2 * case.instant_ns + 0.001), key
    assert missed == MISSED.get(case.folder, {})


@needs_hta_outputs
def test_launch_stats_of_every_trace_are_compared():
    written = {
        path.parents[1].name
        for path in HTA_OUTPUTS.glob("*/no_rounding/get_cuda_kernel_launch_stats.csv")
    }
    without_gpu = {"cpu_only", "cupti_counters"}
    assert written == {case.folder for case in CASES} | without_gpu
    for folder in without_gpu:
        assert Case(folder, folder).csv("get_cuda_kernel_launch_stats") == []


def test_graph_launches(real_run):
    """Twelve launches of 5,046 activities, of which HTA has none."""
    of_graphs = [
        row
        for row in real_run.launch_stats(only_jobs=["trace_diff/test"]).to_pylist()
        if row["launch_name"] == "cudaGraphLaunch"
    ]
    assert len(of_graphs) == 5046
    assert len({row["launch_id"] for row in of_graphs}) == 12
    [row] = real_run.launch_summary(only_jobs=["trace_diff/test"]).to_pylist()
    assert row["activity_count"] - row["launch_count"] == 5046 - 12
