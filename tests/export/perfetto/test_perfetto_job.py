"""An exported job: its ranks, devices and clocks."""

from collections import Counter, defaultdict

import orjson
import pytest
from export.conftest import RANKS, STEPS, added, exported, invoke, ns, own
from export.perfetto.exports import processes, rank_of

import hta_sql
from hta_sql.export import perfetto


def test_the_job(whole, archive, truth):
    names = processes(whole)
    [pid] = [pid for pid, name in names.items() if name == "Job"]
    threads = {
        e["tid"]: e["args"]["name"]
        for e in whole["traceEvents"]
        if e["ph"] == "M" and e["name"] == "thread_name" and e["pid"] == pid
    }
    spans = added(whole, "X")
    assert {e["pid"] for e in spans} == {pid}
    steps = [e for e in spans if threads[e["tid"]].startswith("Steps")]
    assert sorted(e["name"] for e in steps) == [f"step {n}" for n in range(STEPS)]
    for event in steps:
        own_steps = [
            e
            for e in own(whole)
            if e.get("cat") == "user_annotation"
            and e["name"] == f"ProfilerStep#{event['name'].split()[1]}"
        ]
        assert len(own_steps) == event["args"]["ranks"] == RANKS
        assert ns(event) == min(ns(e) for e in own_steps)
        end = max(ns(e) + ns(e, "dur") for e in own_steps)
        assert ns(event) + ns(event, "dur") == end
    late = [e for e in spans if threads[e["tid"]].startswith("Stragglers")]
    assert late
    assert Counter(e["args"]["rank"] for e in late).most_common(1)[0][0] == truth["straggler"]
    made = {c["id"]: c for c in truth["collectives"]}
    waits = defaultdict(int)
    for call in made.values():
        durs = sorted(rank["dur_ns"] for rank in call["ranks"].values())
        if call["name"] in ("allreduce", "_allgather_base", "_reduce_scatter_base"):
            waits[round((sum(durs) - len(durs) * durs[0]) / 1000, 3)] += 1
    for event in late:
        args = event["args"]
        assert event["name"] == f"rank {args['rank']} late: {args['collective']}"
        assert event["dur"] == pytest.approx(args["late (us)"]) and event["dur"] >= 10
        assert round(args["waiting caused (us)"], 3) in waits
    # All that is late enough is there.
    wanted = 0
    for call in made.values():
        durs = sorted(rank["dur_ns"] for rank in call["ranks"].values())
        wanted += (
            len(durs) > 1
            and durs[1] - durs[0] >= perfetto.LEAST_LATE_NS
            and (call["name"] in ("allreduce", "_allgather_base", "_reduce_scatter_base"))
        )
    assert len(late) == wanted
    for tid in threads:
        track = sorted((ns(e), ns(e) + ns(e, "dur")) for e in spans if e["tid"] == tid)
        assert all(end <= start for (_, end), (start, _) in zip(track, track[1:], strict=False))


def test_ranks_without_collectives_stay_where_they_are(tmp_path):
    folder = tmp_path / "two"
    folder.mkdir()
    for rank in (0, 1):
        (folder / f"rank_{rank}.json").write_bytes(
            orjson.dumps(
                {
                    "baseTimeNanoseconds": 1_700_000_000_000_000_000,
                    "traceEvents": [
                        {
                            "ph": "X",
                            "cat": "cpu_op",
                            "name": "a",
                            "pid": 9,
                            "tid": 9,
                            "ts": 5 + rank,
                            "dur": 1,
                            "args": {"correlation": 0},
                        }
                    ],
                }
            )
        )
    hta_sql.ingest([folder], tmp_path / "archive")
    trace = exported("perfetto", tmp_path / "archive", tmp_path / "out.json")
    assert [(e["ts"], e["args"]) for e in own(trace) if e["ph"] == "X"] == [
        (5, {"correlation": 0}),
        (6, {"correlation": 0}),
    ]
    assert len({e["pid"] for e in own(trace)}) == 2
    assert "Job" not in processes(trace).values()
    assert [rank["residual_ns"] for rank in trace["hta_sql"]["ranks"]] == [None, None]


def test_devices_of_several_ranks(tmp_path):
    """Two devices each; one has the number of the host's process, as in a container."""
    folder = tmp_path / "two"
    folder.mkdir()

    def event(cat, name, pid, tid, ts, **args):
        return {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": pid,
            "tid": tid,
            "ts": ts,
            "dur": 2,
            "args": args,
        }

    events = [
        event("cuda_runtime", "cudaLaunchKernel", 1, 100, 5, correlation=7),
        event("kernel", "gemm", 0, 7, 9, device=0, stream=7, correlation=7),
        event("kernel", "relu", 1, 7, 9, device=1, stream=7, correlation=8),
        event("cuda_sync", "Stream Sync", 0, 1_000_007, 10, device=0, correlation=9),
        event("cpu_op", "triton_op", 1, 100, 2, device=0, stream=7),
        {
            "ph": "i",
            "s": "t",
            "cat": "cpu_instant_event",
            "name": "[memory]",
            "pid": 1,
            "tid": 100,
            "ts": 3,
            "args": {"Device Type": 1, "Device Id": 1, "Bytes": 8, "Addr": 1},
        },
        {
            "ph": "i",
            "s": "t",
            "cat": "cpu_instant_event",
            "name": "[memory]",
            "pid": 1,
            "tid": 100,
            "ts": 3,
            "args": {"Device Type": 0, "Device Id": 0, "Bytes": 8, "Addr": 1},
        },
    ]
    for rank in (3, 10):
        (folder / f"rank_{rank}.json").write_bytes(
            orjson.dumps({"baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": events})
        )
    hta_sql.ingest([folder], tmp_path / "archive")
    trace = exported("perfetto", tmp_path / "archive", tmp_path / "out.json", "--counters", "none")
    names = processes(trace)
    assert sorted(names.values()) == [
        f"rank {rank}: {what}" for rank in (10, 3) for what in ("GPU 0", "GPU 1", "process 1")
    ]
    assert [names[device] for device in range(4)] == [
        f"rank {rank}: GPU {n}" for rank in (3, 10) for n in (0, 1)
    ]
    assert [rank["devices"] for rank in trace["hta_sql"]["ranks"]] == [
        {"0": 0, "1": 1},
        {"2": 0, "3": 1},
    ]
    second = [e for e in own(trace) if e["ph"] != "M" and rank_of(e, names) == 10]
    assert [(names[e["pid"]].split(": ")[1], e["tid"]) for e in second] == [
        ("process 1", 100),
        ("GPU 0", 7),
        ("GPU 1", 7),
        ("GPU 0", 1_000_007),
        *[("process 1", 100)] * 3,
    ]
    assert [e["args"] for e in second] == [
        {"correlation": 710},
        {"device": 2, "stream": 7, "correlation": 710},
        {"device": 3, "stream": 7, "correlation": 810},
        {"device": 2, "correlation": 910},
        {"device": 0, "stream": 7},
        {"Device Type": 1, "Device Id": 3, "Bytes": 8, "Addr": 1},
        {"Device Type": 0, "Device Id": 0, "Bytes": 8, "Addr": 1},
    ]


def test_a_drift_is_told(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(perfetto, "DRIFT_NS", 100)
    result = invoke("perfetto", archive, tmp_path / "out.json")
    assert result.exit_code == 0
    told = {
        rank["rank"]: rank["drift_ppm"]
        for rank in orjson.loads((tmp_path / "out.json").read_bytes())["hta_sql"]["ranks"]
    }
    lines = [line for line in result.stderr.splitlines() if line.startswith("Warning")]
    assert [line.partition(":")[2].split(":")[0] for line in lines] == [
        f" rank {rank}" for rank in range(RANKS) if told[rank]
    ]
    rank = next(rank for rank in range(RANKS) if told[rank])
    with hta_sql.open(archive) as run:
        [traced] = run.sql(
            "SELECT max(end_ns) - min(start_ns) AS ns FROM (SELECT rank, start_ns, end_ns "
            "FROM host_ops UNION ALL SELECT rank, start_ns, end_ns FROM gpu_activities) "
            f"WHERE rank = {rank}"
        ).to_pylist()
    off_us = abs(told[rank]) / 1e6 * traced["ns"] / 2 / 1000
    assert lines[0].endswith(
        f": its clock drifts, so its first and last events are off by {off_us:.1f} us"
    )
