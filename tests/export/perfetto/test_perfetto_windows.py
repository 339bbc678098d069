"""Exports of a step or a window."""

from collections import Counter

import pytest
from export.conftest import RANKS, STEPS, added, exported, invoke, ns, own, read_again
from export.perfetto.exports import GPU_CATS, check_arrows, processes, rank_of, same_tables
from seeds import seeds

import hta_sql
from hta_sql.export import perfetto


@pytest.mark.parametrize("step", seeds(STEPS))
def test_step_of_one_rank(archive, source, tmp_path, step):
    trace = exported("perfetto", archive, tmp_path / "s.json", "--only-ranks", 2, "--step", step)
    events = own(trace)
    assert [e for e in events if e["ph"] != "M"] == expected_of_step(source[2], step)
    check_arrows(events)
    lanes = {(e["pid"], e["tid"]) for e in events if e["ph"] != "M"}
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    was = [e for e in source[2]["traceEvents"] if e["ph"] == "M"]
    assert named == lanes & {(e["pid"], e["tid"]) for e in was}
    assert {e["pid"] for e in events if e["name"] == "process_name"} == {
        pid for pid, _ in lanes
    } & {e["pid"] for e in was}
    again = read_again(tmp_path / "again", tmp_path / "s.json")
    same_tables(archive, again, only_ranks=[2], only_steps=[step])


def expected_of_step(trace: dict, step: int) -> list[dict]:
    """By the words of the command, in plain Python."""
    events = [e for e in trace["traceEvents"] if e["ph"] != "M"]
    [mark] = [
        e for e in events if e["name"] == f"ProfilerStep#{step}" and e["cat"] == "user_annotation"
    ]
    begin, end = ns(mark), ns(mark) + ns(mark, "dur")
    host_pid = mark["pid"]

    def of_host(event):
        return event["pid"] == host_pid and begin <= ns(event) < end

    launches = {
        e["args"]["correlation"]
        for e in events
        if e.get("cat") in ("cuda_runtime", "cuda_driver") and of_host(e)
    }
    kernels = [
        e for e in events if e.get("cat") in GPU_CATS and e["args"]["correlation"] in launches
    ]
    first = min(map(ns, kernels))
    last = max(ns(e) + ns(e, "dur") for e in kernels)
    device = kernels[0]["pid"]
    annotations = {
        e["args"]["External id"] for e in events if e.get("cat") == "user_annotation" and of_host(e)
    }
    arrows = {(e["cat"], e["id"]) for e in events if e["ph"] == "s" and of_host(e)}
    picked = []
    for event in events:
        cat = event.get("cat")
        if event["ph"] in "sf":
            keep = (cat, event["id"]) in arrows
        elif cat in GPU_CATS:
            keep = event["args"]["correlation"] in launches
        elif event["pid"] == device:
            keep = first <= ns(event) <= last or (
                cat == "gpu_user_annotation" and event["args"]["External id"] in annotations
            )
        else:
            keep = begin <= ns(event) < end
        if keep:
            picked.append(event)
    return picked


def test_step_of_all_ranks(archive, source, tmp_path):
    trace = exported("perfetto", archive, tmp_path / "s.json", "--step", 1)
    names = processes(trace)
    found = Counter(
        (rank_of(e, names), e.get("cat"), e["ph"], e["name"]) for e in own(trace) if e["ph"] != "M"
    )
    assert found == Counter(
        (rank, e.get("cat"), e["ph"], e["name"])
        for rank, was in source.items()
        for e in expected_of_step(was, 1)
    )
    assert [e["name"] for e in added(trace, "X") if e["name"].startswith("step ")] == ["step 1"]
    check_arrows(own(trace))
    again = read_again(tmp_path / "again", tmp_path / "s.json")
    with hta_sql.open(archive) as one, hta_sql.open(again) as two:
        rows = one.temporal_breakdown(only_steps=[1]).to_pylist()
        assert [row | {"rank": 0} for row in rows] == two.temporal_breakdown().to_pylist()
        assert {row["step"] for row in two.profiler_steps().to_pylist()} == {1}


@pytest.mark.queries
def test_batches_and_ranges_change_nothing(archive, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(perfetto, "BATCH", 1)
    monkeypatch.setattr("hta_sql.export.sql.RANGE", 100)
    monkeypatch.setattr("hta_sql.export.sql.LINES", 7)
    assert exported("perfetto", archive, tmp_path / "out.json") == whole
    step = exported("perfetto", archive, tmp_path / "a.json", "--step", 1)
    monkeypatch.undo()
    assert exported("perfetto", archive, tmp_path / "b.json", "--step", 1) == step


# A window


def test_window(archive, source, tmp_path):
    trace = exported(
        "perfetto", archive, tmp_path / "w.json", "--only-ranks", 0, "--window", "4ms..9.5ms"
    )
    events = [e for e in source[0]["traceEvents"] if e["ph"] != "M"]
    with hta_sql.open(archive) as run:
        # Rank 0 is the reference, so its own clock counts; whoever was first of all, began.
        rows = run.kernel_timeline().to_pylist()
        shown = run.kernel_timeline(
            only_ranks=[0], window_from_ns=4_000_000, window_until_ns=9_500_000
        )
    zero = rows[0]["start_ns"] - rows[0]["from_start_ns"] - source[0]["baseTimeNanoseconds"]
    begin, end = zero + 4_000_000, zero + 9_500_000
    arrows = {(e["cat"], e["id"]) for e in events if e["ph"] == "s" and begin <= ns(e) < end}
    wanted = [
        e
        for e in events
        if (
            (e["cat"], e["id"]) in arrows
            if e["ph"] in "sf"
            else ns(e) < end and (ns(e) + ns(e, "dur") if "dur" in e else ns(e)) > begin
        )
    ]
    assert [e for e in own(trace) if e["ph"] != "M"] == wanted
    assert len(shown) == sum(e.get("cat") in GPU_CATS for e in own(trace)) > 10
    counters = added(trace, "C")
    assert counters and all(begin <= ns(e) < end for e in counters)


def test_window_of_all_ranks(archive, tmp_path):
    trace = exported("perfetto", archive, tmp_path / "w.json", "--window", "8ms..14ms")
    names = processes(trace)
    found = Counter(rank_of(e, names) for e in own(trace) if e.get("cat") in GPU_CATS)
    with hta_sql.open(archive) as run:
        rows = run.kernel_timeline(window_from_ns=8_000_000, window_until_ns=14_000_000).to_pylist()
    assert found == Counter(row["rank"] for row in rows)
    assert len(found) == RANKS
    # And nothing else, on any rank, is beside the window; clocks drift less than 1 us.
    zero = rows[0]["start_ns"] - rows[0]["from_start_ns"] - trace["baseTimeNanoseconds"]
    begin, end = zero + 8_000_000 - 1_000, zero + 14_000_000 + 1_000
    events = [e for e in own(trace) if e["ph"] not in ("M", "f")]
    assert {e["ph"] for e in events} == {"X", "i", "s"}
    for event in events:
        assert ns(event) < end
        assert ns(event) + (ns(event, "dur") if "dur" in event else 0) > begin


@pytest.mark.parametrize(
    "words",
    [
        ["5..7"],
        ["7ms..5ms"],
        ["ms..5ms"],
        ["5ms"],
        ["5ms..5ms"],
        ["-1ms..5ms"],
        ["1ms..2ms..3ms"],
        ["1e3ms..5s"],
        [""],
    ],
)
def test_windows_that_are_none(archive, tmp_path, words):
    result = invoke("perfetto", archive, tmp_path / "w.json", "--window", *words)
    assert result.exit_code == 2
    assert "10ms..25ms" in result.stderr
    assert not (tmp_path / "w.json").exists()


def test_kernels_only(archive, source, tmp_path):
    trace = exported("perfetto", archive, tmp_path / "k.json", "--kernels-only")
    assert {e.get("cat") for e in own(trace) if e["ph"] != "M"} == set(GPU_CATS)
    assert sum(e["ph"] == "X" for e in own(trace)) == sum(
        e.get("cat") in GPU_CATS for rank in source.values() for e in rank["traceEvents"]
    )
    assert added(trace, "C") and added(trace, "X")
    step = exported(
        "perfetto", archive, tmp_path / "s.json", "--kernels-only", "--step", 1, "--only-ranks", 1
    )
    assert [e for e in own(step) if e["ph"] != "M"] == [
        e for e in expected_of_step(source[1], 1) if e.get("cat") in GPU_CATS
    ]
