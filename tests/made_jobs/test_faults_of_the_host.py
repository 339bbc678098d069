"""Made-up jobs with a fault of the host or of its launches: what is in their traces."""

import pytest
from made_jobs.planted import MS, dur

STEPS, LAYERS = 3, 2


def test_host_bound(planted):
    ranks, [fault] = planted("host_bound")
    for rank in ranks:
        slow = rank.named(fault["python_function"])
        assert len(slow) == STEPS * LAYERS
        for function in slow:
            assert dur(function) > MS and not rank.inside(function, rank.calls)
            # The small kernel that was launched before it ends in it.
            assert rank.busy_ns(function["start"], function["end"]) < 10_000


def test_launch_overhead(planted):
    ranks, [fault] = planted("launch_overhead")
    for rank in ranks:
        [frame, *_] = rank.named("train.py(140): update_statistics")
        calls = rank.inside(frame, rank.calls)
        kernels = [k for k in rank.kernels_of(fault["operator"]) if rank.launch(k) in calls]
        assert len(calls) == len(kernels) > 300
        assert all(dur(kernel) < dur(rank.launch(kernel)) < 10_000 for kernel in kernels)
        assert rank.busy_ns(frame["start"], frame["end"]) < 0.3 * dur(frame)


def test_slow_launches(planted):
    ranks, [fault] = planted("slow_launches")
    for rank in ranks:
        slow = [call for call in rank.calls if dur(call) > MS]
        launches = [call for call in slow if "Launch" in call["name"]]
        assert {call["name"] for call in launches} == {fault["host_call"]}
        assert len(launches) >= STEPS
        for call in launches:
            assert dur(call) < 2 * MS
            assert rank.busy_ns(call["start"], call["end"]) < 10_000


def test_stalled_after_launch(planted):
    ranks, [fault] = planted("stalled_after_launch")
    for rank in ranks:
        stalled = [
            kernel
            for kernel in rank.kernels_of(fault["operator"])
            if kernel["start"] - rank.launch(kernel)["end"] > MS
        ]
        assert len(stalled) >= STEPS
        for kernel in stalled:
            launched, started = rank.launch(kernel)["end"], kernel["start"]
            assert dur(rank.launch(kernel)) < 10_000
            assert rank.busy_ns(launched, started) < 10_000
            between = (launched + started) // 2
            [waiting] = [c for c in rank.calls if c["start"] < between < c["end"]]
            assert waiting["name"] == fault["host_call"] == "cudaMemcpyAsync"


def test_data_loading(planted):
    ranks, [fault] = planted("data_loading")
    for rank, healthy in zip(ranks, planted()[0], strict=True):
        for step, fetch in zip(rank.steps, rank.named(fault["annotation"]), strict=True):
            assert dur(fetch) > 0.5 * dur(step)
        for step, fetch in zip(rank.steps[1:], rank.named(fault["annotation"])[1:], strict=True):
            idle = dur(fetch) - rank.busy_ns(fetch["start"], fetch["end"])
            assert idle > 0.5 * dur(step)
        for fetch in healthy.named(fault["annotation"])[1:]:
            # The optimizer of the step before is not done; it has gaps.
            assert healthy.busy_ns(fetch["start"], fetch["end"]) > dur(fetch) - 3_000


def test_gpu_sync(planted):
    ranks, [fault] = planted("gpu_sync")
    for rank, healthy in zip(ranks, planted()[0], strict=True):
        assert len(healthy.named(fault["host_call"])) == STEPS
        frames = rank.named(fault["python_function"])
        assert len(frames) == STEPS
        for frame in frames:
            waits = [c for c in rank.inside(frame, rank.calls) if c["name"] == fault["host_call"]]
            items = [o for o in rank.inside(frame, rank.ops) if o["name"] == fault["operator"]]
            assert len(waits) == len(items) > LAYERS
            for wait in waits:
                assert rank.busy_ns(wait["end"], wait["end"] + 50_000) == 0


def test_memory_thrash(planted):
    ranks, [fault] = planted("memory_thrash")
    for rank, healthy in zip(ranks, planted()[0], strict=True):
        for name in fault["host_call"].split(", "):
            assert healthy.named(name) == []
            calls = rank.named(name)
            assert len(calls) >= STEPS
            for call in calls:
                assert call["tid"] == rank.steps[0]["tid"]
                assert 0.5 * MS < dur(call) - rank.busy_ns(call["start"], call["end"]) < 2 * MS


def test_step_variance(planted):
    ranks, [fault] = planted("step_variance", steps=7)
    for rank in ranks:
        assert len(rank.named(fault["python_function"])) == 2
        usual, *_, longest = sorted(map(dur, rank.steps[1:]))
        long = [number for number, step in enumerate(rank.steps) if dur(step) > 1.5 * usual]
        assert long == [2, 6] and longest < 2.5 * usual


def test_warm_up(planted):
    ranks, [fault] = planted("warm_up")
    assert fault["gain_ns"] is None
    for rank in ranks:
        first, *others = map(dur, rank.steps)
        assert 2 * max(others) < first < 5 * max(others)
        calls = [call for call in rank.named(fault["host_call"]) if call["end"] < first]
        assert all(dur(call) > 50_000 for call in calls)


def test_profiler_overhead(planted):
    ranks, [fault] = planted("profiler_overhead")
    assert fault["gain_ns"] is None
    for rank, healthy in zip(ranks, planted()[0], strict=True):
        rows = [event for event in rank.events if event.get("cat") == "overhead"]
        assert {row["name"] for row in rows} == set(fault["overhead"].split(", "))
        assert all(row["pid"] == -1 for row in rows)
        assert 0.04 * rank.step_ns() * STEPS < sum(map(dur, rows)) < 0.1 * rank.step_ns() * STEPS
        assert not [event for event in healthy.events if event.get("cat") == "overhead"]
        # The device has enough to do meanwhile.
        assert rank.step_ns() == pytest.approx(healthy.step_ns(), rel=0.01)
