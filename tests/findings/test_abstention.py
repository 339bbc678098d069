"""Rules say nothing where the trace lacks what they need, and trace_quality says why.

Each job has the fault of a rule, and something taken out of its traces afterwards.
"""

import gzip
import shutil
from pathlib import Path

import orjson
import pytest
from findings.conftest import ALONE

import hta_sql
from hta_sql.demo import write_job

pytestmark = pytest.mark.queries
RUNTIME = {"cuda_runtime", "cuda_driver"}
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
COLLECTIVE = ("Collective name", "Process Group Name", "Process Group Ranks", "Group size", "dtype")


def without_cats(*cats):
    def strip(trace):
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") not in cats]

    return strip


def without_args(*names):
    def strip(trace):
        for event in trace["traceEvents"]:
            for name in names:
                event.get("args", {}).pop(name, None)

    return strip


def without_steps(trace):
    trace["traceEvents"] = [
        e for e in trace["traceEvents"] if not str(e["name"]).startswith("ProfilerStep")
    ]


def without_device(trace):
    del trace["deviceProperties"]


def thinned_out(trace):
    """The numbers of the calls become those of a trace with 1 in 1,000."""
    for event in trace["traceEvents"]:
        if "correlation" in event.get("args", {}):
            event["args"]["correlation"] *= 1000
        if event.get("cat") == "ac2g":
            event["id"] *= 1000


def without_many_kernels(trace):
    """Every third kernel is lost, as when the profiler drops buffers."""
    events, kept, count = trace["traceEvents"], [], 0
    for event in events:
        count += event.get("cat") == "kernel"
        if event.get("cat") != "kernel" or count % 3:
            kept.append(event)
    trace["traceEvents"] = kept


def nothing(trace):
    """The other ranks have no trace, see LONE."""


# What is taken out: how, the check that says so, and the rules that then have no row.
ACROSS = ("straggler", "load_imbalance", "expert_imbalance", "pipeline_bubble")
STEPS = ("step_variance", "warm_up", "pipeline_bubble")
LACKS = {
    "launches": (
        without_cats(*RUNTIME, "ac2g"),
        "unlinked_kernels",
        (*ALONE, "unfused_elementwise", "unfused_optimizer", "recompute"),
    ),
    "activities": (
        without_cats(*GPU, "ac2g", "gpu_user_annotation"),
        "no_gpu_activities",
        (*ALONE, "exposed_communication", "full_precision", "layout_copies", "pageable_copies"),
    ),
    "most_calls": (thinned_out, "thinned_out", ALONE),
    "kernels": (without_many_kernels, "dropped_buffers", ("stalled_after_launch",)),
    "device": (without_device, "missing_device_name", ("full_precision", "far_from_roofline")),
    "shapes": (
        without_args("Input Dims"),
        "missing_shapes",
        ("far_from_roofline", "unfused_elementwise"),
    ),
    "collectives": (
        without_args(*COLLECTIVE),
        "missing_collective_arguments",
        ("slow_collectives", "small_collectives", *ACROSS),
    ),
    "ranks": (nothing, "missing_ranks", ACROSS),
    "steps": (without_steps, "missing_steps", STEPS),
}
LONE = "ranks"
CASES = [(lacking, rule) for lacking, (_, _, rules) in LACKS.items() for rule in rules]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """(job, rule) of all findings, and {job: {check: weakened queries}}."""
    folder = tmp_path_factory.mktemp("abstention")
    for rule in {rule for _, rule in CASES}:
        ranks = 1 if rule in ALONE else 2
        whole = folder / "traces" / f"{rule}-whole"
        write_job(whole, ranks=ranks, layers=2, steps=7, bottleneck=rule, straggler=None)
        (whole / "truth.json").unlink()
    for lacking, rule in CASES:
        strip_job(folder / "traces", rule, lacking)
    hta_sql.ingest(folder / "traces", folder / "archive")
    with hta_sql.open(folder / "archive") as run:
        rows = run.findings().to_pylist()
        quality = run.trace_quality().to_pylist()
    weakened = {}
    for row in quality:
        weakened.setdefault(row["job"], {})[row["check"]] = row["weakens"]
    return {(row["job"], row["rule"]) for row in rows}, weakened


def strip_job(traces: Path, rule: str, lacking: str) -> None:
    whole, job = traces / f"{rule}-whole", traces / f"{rule}-{lacking}"
    job.mkdir()
    files = sorted(whole.glob("rank_*.json.gz"))
    if lacking == LONE:
        shutil.copy(files[-1], job)
        return
    for file in files:
        trace = orjson.loads(gzip.decompress(file.read_bytes()))
        LACKS[lacking][0](trace)
        (job / file.name).write_bytes(gzip.compress(orjson.dumps(trace), compresslevel=1))


@pytest.mark.parametrize(("lacking", "rule"), CASES)
def test_no_finding_on_missing_data(found, lacking, rule):
    rules, weakened = found
    assert (f"{rule}-whole", rule) in rules
    assert (f"{rule}-{lacking}", rule) not in rules
    assert "findings" in weakened[f"{rule}-{lacking}"][LACKS[lacking][1]]
