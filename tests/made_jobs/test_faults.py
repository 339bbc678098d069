"""Made-up jobs with faults: what truth.json tells of them, and how they are asked for."""

import pytest
from click.testing import CliRunner
from made_jobs.planted import HEALTHY, dur
from made_jobs.traces import SMALL

from hta_sql.cli.program import cli
from hta_sql.demo import write_job

# Without these, the job is the healthy one; without the others, it does the same work otherwise.
ADDED = (
    "host_bound",
    "slow_launches",
    "stalled_after_launch",
    "data_loading",
    "gpu_sync",
    "memory_thrash",
    "exposed_communication",
    "slow_collectives",
    "straggler",
    "full_precision",
    "layout_copies",
    "recompute",
    "step_variance",
)
OTHERWISE = (
    "launch_overhead",
    "small_collectives",
    "load_imbalance",
    "far_from_roofline",
    "unfused_elementwise",
    "unfused_optimizer",
    "pageable_copies",
    "pipeline_bubble",
    "expert_imbalance",
)
WITHOUT_GAIN = ("warm_up", "profiler_overhead")
OTHER_NAMES = ("launch", "compute", "communication")


@pytest.mark.parametrize("ranks", [1, 4, 8])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_healthy_job_is_healthy(job, ranks, seed):
    _, truth = job(ranks=ranks, layers=4, seed=seed, **HEALTHY)
    assert truth["faults"] == []
    for rank in truth["ranks"]:
        for step in rank["steps"][1:]:
            assert step["exposed_communication_ns"] < 0.008 * step["dur_ns"]
            assert step["exposed_memory_ns"] < 0.008 * step["dur_ns"]
            assert step["idle_ns"] < 0.02 * step["dur_ns"]


@pytest.mark.parametrize("rule", [*ADDED, *OTHERWISE])
def test_the_gain_of_a_fault(planted, rule):
    ranks, [fault] = planted(rule)
    step_ns, healthy_ns = (max(r.step_ns() for r in job) for job in (ranks, planted()[0]))
    assert fault["rule"] == rule
    assert (fault["ranks"] is None) == (
        rule not in ("straggler", "load_imbalance", "expert_imbalance")
    )
    assert 0.08 * step_ns < fault["gain_ns"] < 0.65 * step_ns
    if rule in ADDED:
        assert fault["gain_ns"] == pytest.approx(step_ns - healthy_ns, rel=0.02)
    elif rule != "unfused_optimizer":
        # That one's fused kernels are for another number of parameters.
        assert fault["gain_ns"] < 1.02 * (step_ns - healthy_ns)


PAIRS = [
    ("host_bound", "exposed_communication"),
    ("recompute", "gpu_sync"),
    ("small_collectives", "slow_collectives"),
    ("data_loading", "pageable_copies"),
    ("unfused_optimizer", "slow_launches"),
    ("pipeline_bubble", "full_precision"),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_two_faults(planted, pair):
    ranks, faults = planted(",".join(pair))
    assert [fault["rule"] for fault in faults] == list(pair)
    first, second = (fault["gain_ns"] for fault in faults)
    assert first > 1.3 * second > 0.05 * max(rank.step_ns() for rank in ranks)


def test_many_faults(planted):
    """Names can also be in a list. Warnings are last."""
    rules = ("warm_up", "profiler_overhead", "host_bound", "gpu_sync", "recompute", "straggler")
    _, faults = planted(rules)
    gains = [fault["gain_ns"] for fault in faults]
    assert sorted(fault["rule"] for fault in faults) == sorted(rules)
    assert gains[-2:] == [None, None] and gains[:-2] == sorted(gains[:-2], reverse=True)


def test_a_fault_of_one_rank(planted):
    ranks, [fault] = planted("slow_launches@0")
    assert fault["ranks"] == [0]
    slow = [[c for c in rank.named(fault["host_call"]) if dur(c) > 1_000_000] for rank in ranks]
    assert slow[0] and not slow[1]
    # The other rank waits for it.
    healthy = max(rank.step_ns() for rank in planted()[0])
    assert all(rank.step_ns() > 1.2 * healthy for rank in ranks)


def test_the_usual_straggler_is_a_fault_beside_others(job):
    _, truth = job(bottleneck="host_bound", steps=3)
    assert [fault["rule"] for fault in truth["faults"]] == ["host_bound", "straggler"]
    assert truth["faults"][1]["ranks"] == [1]
    _, truth = job(bottleneck="straggler@0", steps=3)
    assert [(fault["rule"], fault["ranks"]) for fault in truth["faults"]] == [("straggler", [0])]


@pytest.mark.parametrize(
    ("names", "arguments", "error"),
    [
        ("no_rule", {}, "host_bound, launch_overhead"),
        ("gpu_sync@2", {}, "the ranks are 0 to 1"),
        ("gpu_sync@x", {}, "the ranks are 0 to 1"),
        ("gpu_sync,gpu_sync@1", {}, "named twice"),
        ("small_collectives@1", {}, "a fault of all ranks"),
        ("load_imbalance", {"ranks": 1}, "needs at least two ranks"),
        ("pipeline_bubble", {"layers": 1}, "needs at least two layers"),
        ("gpu_sync,", {}, "host_bound, launch_overhead"),
    ],
)
def test_what_cannot_be_planted_is_said(tmp_path, names, arguments, error):
    with pytest.raises(ValueError, match=f"bottleneck.*{error}"):
        write_job(tmp_path / "out", **{**SMALL, **arguments}, bottleneck=names)
    assert not (tmp_path / "out").exists()
    words = [
        word for name, value in {**SMALL, **arguments}.items() for word in (f"--{name}", value)
    ]
    words = ["demo", str(tmp_path / "out"), "--bottleneck", names, *map(str, words)]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 2 and "--bottleneck" in result.output
    for part in error.split(", "):
        assert part in result.output
    assert not (tmp_path / "out").exists()


def test_help_lists_all_names():
    text = CliRunner().invoke(cli, ["demo", "--help"]).output
    assert max(map(len, text.splitlines())) <= 80
    words = text.replace(",", " ").split()
    for rule in (*ADDED, *OTHERWISE, *WITHOUT_GAIN, *OTHER_NAMES):
        assert rule in words
