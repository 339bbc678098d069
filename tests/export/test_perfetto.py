"""Ranks for Perfetto: what is in the file, and that it gives the numbers of the archive again."""

import re
from collections import Counter, defaultdict

import orjson
import pytest
from export.conftest import RANKS, STEPS, added, exported, invoke, ns, own, read_again
from queries.plans import bad_joins, plan

import hta_sql
from hta_sql.database.sql_files import SqlFiles
from hta_sql.export import perfetto
from hta_sql.export.sql import FILES

QUERIES = (
    "temporal_breakdown",
    "kernel_stats",
    "idle_time_breakdown",
    "op_stats",
    "launch_stats",
    "queue_length_series",
    "queue_length_summary",
    "memory_bandwidth_series",
    "annotation_stats",
    "comm_comp_overlap",
    "kernel_kind_breakdown",
    "op_launch_delay",
    "module_stats",
    "memory_timeline",
    "profiler_steps",
)
GPU_CATS = ("kernel", "gpu_memcpy", "gpu_memset")
HOST_CATS = ("cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver")


def same_tables(archive, again, **given):
    """Every query gives the same rows of both, to the last digit."""
    with hta_sql.open(archive) as one, hta_sql.open(again) as two:
        for name in QUERIES:
            rows = one.query(name, **given).to_pylist()
            assert rows, name
            ids = {key for key in rows[0] if key == "event_id" or key.endswith("_id")}
            plain = [{k: v for k, v in row.items() if k not in ids} for row in rows]
            found = [
                {k: v for k, v in row.items() if k not in ids}
                for row in two.query(name).to_pylist()
            ]
            assert found == plain, name


# One rank


def test_one_rank_stays_as_it_is(archive, source, tmp_path):
    trace = exported("perfetto", archive, tmp_path / "out.json", "--only-ranks", 1)
    was = source[1]["traceEvents"]
    found = own(trace)
    assert len(found) == len(was)
    for then, now in zip(was, found, strict=True):
        if then["ph"] == "M":  # names are of no time
            then = {key: value for key, value in then.items() if key != "ts"}
        assert now == then
    kept = {key: value for key, value in source[1].items() if key != "traceEvents"}
    assert kept | {"displayTimeUnit": "ns"} == {
        key: value for key, value in trace.items() if key != "traceEvents"
    }


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_one_rank_read_again(archive, tmp_path, name):
    exported("perfetto", archive, tmp_path / name, "--only-ranks", 1)
    again = read_again(tmp_path / "again", tmp_path / name)
    same_tables(archive, again, only_ranks=[1])
    with hta_sql.open(archive) as one, hta_sql.open(again) as two:
        for table in ("gpu_activities", "host_ops"):
            sql = f"FROM {table} WHERE rank = 1 ORDER BY event_id"
            assert one.sql(sql).equals(two.sql(sql))


def test_compressed_is_the_same(archive, tmp_path):
    plain = exported("perfetto", archive, tmp_path / "out.json")
    packed = exported("perfetto", archive, tmp_path / "out.json.gz")
    assert plain == packed
    assert (tmp_path / "out.json.gz").stat().st_size < (tmp_path / "out.json").stat().st_size / 5


# Several ranks


@pytest.fixture(scope="module")
def whole(archive, tmp_path_factory) -> dict:
    return exported("perfetto", archive, tmp_path_factory.mktemp("whole") / "job.json.gz")


@pytest.fixture(scope="module")
def merged(archive, whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("merged")
    (folder / "rank_0.json").write_bytes(orjson.dumps(whole))
    return read_again(folder / "archive", folder / "rank_0.json")


def processes(trace: dict) -> dict[int, str]:
    return {
        event["pid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["ph"] == "M" and event["name"] == "process_name"
    }


def rank_of(event: dict, names: dict[int, str]) -> int:
    return int(re.match(r"rank (\d+): ", names[event["pid"]])[1])


def test_processes(whole, source):
    names = processes(whole)
    assert names == {
        **{pid: name for pid, name in names.items() if name == "Job"},
        **{rank: f"rank {rank}: GPU {rank}" for rank in range(RANKS)},
        **{pid: name for pid, name in names.items() if pid >= RANKS},
    }
    assert len(set(names.values())) == len(names)
    for rank in range(RANKS):
        [pid] = {e["pid"] for e in source[rank]["traceEvents"] if e.get("cat") == "cpu_op"}
        assert f"rank {rank}: python3 {pid}" in names.values()
    assert {event["pid"] for event in whole["traceEvents"]} == set(names)
    places = {
        event["pid"]: event["args"]["sort_index"]
        for event in whole["traceEvents"]
        if event["ph"] == "M" and event["name"] == "process_sort_index"
    }
    assert len(set(places.values())) == len(places) == len(names)
    in_order = [names[pid] for pid in sorted(names, key=places.get)]
    assert in_order[0] == "Job"
    kinds = [re.sub(r"(python3) \d+", r"\1", name) for name in in_order[1:]]
    assert [name for name in kinds if name.endswith("python3") or "GPU" in name] == [
        name
        for rank in range(RANKS)
        for name in (f"rank {rank}: python3", f"rank {rank}: GPU {rank}")
    ]
    # Threads and streams keep their names.
    streams = {(e["pid"], e["tid"]) for e in whole["traceEvents"] if e.get("cat") in GPU_CATS}
    threads = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in whole["traceEvents"]
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    assert {threads[lane] for lane in streams} == {f"stream {tid} " for _, tid in streams}
    assert sum("pt_autograd_0" in name for name in threads.values()) == RANKS


def test_ranks_are_moved_as_a_whole(whole, source):
    """Every event is where it was, but for one number of ns a rank."""
    names = processes(whole)
    by_rank = defaultdict(list)
    for event in own(whole):
        if event["ph"] != "M":
            by_rank[rank_of(event, names)].append(event)
    told = {rank["rank"]: rank for rank in whole["hta_sql"]["ranks"]}
    for rank, events in by_rank.items():
        was = [e for e in source[rank]["traceEvents"] if e["ph"] != "M"]
        assert len(events) == len(was)
        moved = whole["baseTimeNanoseconds"] - source[rank]["baseTimeNanoseconds"]
        for then, now in zip(was, events, strict=True):
            assert (then.get("cat"), then["name"], then.get("dur"), then["tid"]) == (
                now.get("cat"),
                now["name"],
                now.get("dur"),
                now["tid"],
            )
            assert ns(now) + moved - ns(then) == told[rank]["shift_ns"]
        assert told[rank]["devices"] == {str(rank): rank}


def collective_ends(events: list[dict]) -> dict[int, list[int]]:
    ends = defaultdict(list)
    for event in events:
        if event.get("cat") == "kernel" and "Comms Id" in event["args"]:
            name = event["args"]["Collective name"]
            if name in ("allreduce", "_allgather_base", "_reduce_scatter_base"):
                ends[event["args"]["Comms Id"]].append(ns(event) + ns(event, "dur"))
    return {key: found for key, found in ends.items() if len(found) > 1}


def test_collectives_end_together(whole, source, truth):
    apart = {key: max(e) - min(e) for key, e in collective_ends(own(whole)).items()}
    raw = collective_ends([e for rank in source.values() for e in rank["traceEvents"]])
    assert apart.keys() == raw.keys() and len(apart) > 10
    # No more than what the clocks leave open, and what they drift in half of the trace.
    offsets = {rank["rank"]: rank for rank in truth["ranks"]}
    drift = max(abs(rank["drift_ppm"]) for rank in offsets.values()) * 1e-6
    half = max(rank["device"]["span_ns"] for rank in offsets.values()) / 2
    room = sum(rank["residual_ns"] for rank in whole["hta_sql"]["ranks"]) + 2 * drift * half
    assert room < 5_000
    assert max(apart.values()) <= room
    assert min(max(e) - min(e) for e in raw.values()) > 100_000
    # What the clocks were made to show, is taken away.
    for rank in whole["hta_sql"]["ranks"]:
        wanted = offsets[0]["clock_offset_ns"] - offsets[rank["rank"]]["clock_offset_ns"]
        assert rank["shift_ns"] == pytest.approx(wanted, abs=room + 2_000)


def test_arrows_lead_from_span_to_span(whole):
    check_arrows(whole["traceEvents"])


def check_arrows(events, complete=True):
    spans = {(e["pid"], e["tid"], ns(e)) for e in events if e["ph"] == "X"}
    starts = Counter((e["cat"], e["id"]) for e in events if e["ph"] == "s")
    ends = Counter((e["cat"], e["id"]) for e in events if e["ph"] == "f")
    assert starts and set(starts.values()) == {1}
    assert starts == ends
    assert all((e["pid"], e["tid"], ns(e)) in spans for e in events if e["ph"] in "sf")


def test_ids_are_of_a_rank(whole, source):
    names = processes(whole)
    for key in ("correlation", "External id", "Record function id", "Sequence number"):
        owners = defaultdict(set)
        for event in own(whole):
            if event["ph"] == "X" and event.get("args", {}).get(key, 0) > 0:
                owners[event["args"][key]].add(rank_of(event, names))
        assert len(owners) > 50 and {len(ranks) for ranks in owners.values()} == {1}
        for rank, trace in source.items():
            theirs = [e["args"][key] for e in trace["traceEvents"] if key in e.get("args", {})]
            assert {n * 10 + rank if n > 0 else n for n in theirs} == {
                e["args"][key]
                for e in own(whole)
                if key in e.get("args", {}) and e["pid"] in names and rank_of(e, names) == rank
            }


def test_several_ranks_read_again(archive, merged):
    """They are one trace then: of each device the same, of all the sums."""
    with hta_sql.open(archive) as one, hta_sql.open(merged) as two:
        for name in (
            "temporal_breakdown",
            "idle_time_breakdown",
            "comm_comp_overlap",
            "queue_length_summary",
            "memory_bandwidth_series",
        ):
            # One device a rank, so the number of the device is the rank's.
            def figures(run, name=name):
                rows = run.query(name).to_pylist()
                assert rows
                return sorted(
                    str(
                        [
                            row["device"],
                            *(v for k, v in row.items() if k not in ("rank", "device", "at_ns")),
                        ]
                    )
                    for row in rows
                )

            assert figures(one) == figures(two), name
        for name, group, sums in (
            ("kernel_stats", "name", ("count", "total_ns")),
            ("op_stats", "name", ("count", "total_ns", "self_ns", "kernel_ns")),
            ("annotation_stats", "name", ("count", "total_ns")),
            ("module_stats", "module", ("count",)),
        ):
            tables = []
            for run in (one, two):
                table = run.query(name, **({"top_k": 0} if name == "kernel_stats" else {}))
                keys = [key for key in sums if key in table.column_names]
                assert keys and table.num_rows
                group = group if group in table.column_names else table.column_names[2]
                totals = defaultdict(Counter)
                for row in table.to_pylist():
                    for key in keys:
                        totals[row[group]][key] += row[key] or 0
                tables.append(totals)
            assert tables[0] == tables[1], name
        forward = (
            "SELECT count(*) AS n, count(DISTINCT (rank, forward_id)) AS ops FROM host_ops "
            "WHERE forward_id IS NOT NULL"
        )
        assert one.sql(forward).equals(two.sql(forward))
        stacks = (
            "SELECT sum(depth) AS depth, count(parent_id) AS n, count(op_id) AS ops FROM host_ops"
        )
        assert one.sql(stacks).equals(two.sql(stacks))


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
    assert lines[0].endswith(
        ": its clock drifts, so that its first and last events are off by 0.2 us"
    )


# A step


@pytest.mark.parametrize("step", range(STEPS))
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


# Counters


def series(run, name, **given):
    return run.query(name, **given).to_pylist()


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["--only-ranks", 1], {"only_ranks": [1]}),
        ([], {}),
        (["--step", 1], {"only_steps": [1]}),
        (["--step", 2, "--only-ranks", "0,2"], {"only_steps": [2], "only_ranks": [0, 2]}),
    ],
)
def test_counters_are_the_queries(archive, source, tmp_path, words, given):
    trace = exported("perfetto", archive, tmp_path / "c.json", *words)
    base = trace["baseTimeNanoseconds"]
    several = "hta_sql" in trace
    told = trace.get("hta_sql", {"ranks": []})["ranks"]
    shifts = {rank["rank"]: rank["shift_ns"] for rank in told}
    devices = {
        (rank["rank"], old): int(new) for rank in told for new, old in rank["devices"].items()
    }
    counters = added(trace, "C")

    def point(row, key, value, name, **more):
        device = row["device"]
        pid = devices[row["rank"], device] if several else device
        at = row["at_ns"] + shifts.get(row["rank"], 0) - base
        return (pid, name, more.get("id"), at, key, value)

    with hta_sql.open(archive) as run:
        wanted = [
            point(row, "Queue Length", row["queue_length"], "Queue Length", id=row["stream"])
            for row in series(run, "queue_length_series", **given)
        ]
        wanted += [
            point(row, "Memcpy BW", row["bandwidth_gbps"], row["copy_kind"])
            for row in series(run, "memory_bandwidth_series", **given)
        ]
        busy = [
            row
            for row in series(run, "heatmap", bucket_count=1000, **given)
            if row["kind"] == "busy"
        ]

    def found(*names):
        return [
            (e["pid"], e["name"], e.get("id"), ns(e), *next(iter(e["args"].items())))
            for e in counters
            if (e["name"] in names) == bool(names)
        ]

    shown = [e for e in found() if e[1] != "GPU busy"]
    assert Counter(shown) == Counter(wanted)
    for lane in {e[:3] for e in wanted}:  # and in the order of time
        assert [e for e in shown if e[:3] == lane] == [e for e in wanted if e[:3] == lane]
    shares = [e for e in found("GPU busy")]
    assert [e[5] for e in shares] == [pytest.approx(100 * row["busy_frac"]) for row in busy]
    assert len({e[0] for e in shares}) == len({row["rank"] for row in busy})
    if several:
        assert [e[3] + base for e in shares] == [
            pytest.approx(row["start_ns"], abs=2_000) for row in busy
        ]
    # As busy as the rank's own kernels are.
    for rank in {row["rank"] for row in busy}:
        mean = sum(row["busy_ns"] for row in busy if row["rank"] == rank)
        assert mean > 0


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("none", set()),
        ("queue", {"Queue Length"}),
        ("utilisation", {"GPU busy"}),
        ("bandwidth,utilisation", {"GPU busy", "Memcpy HtoD", "Memset"}),
    ],
)
def test_which_counters(archive, tmp_path, asked, names):
    trace = exported("perfetto", archive, tmp_path / "c.json", "--counters", asked)
    assert {e["name"] for e in added(trace, "C")} <= names | {"Memcpy DtoH", "Memcpy DtoD"}
    assert names <= {e["name"] for e in added(trace, "C")}


# What goes wrong


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--step", 9], 1, "Error: job 'llama' has no step 9; there are 3, 0 to 2\n"),
        (["--only-ranks", 7], 1, "Error: job 'llama' has no rank 7; there is 0, 1, 2\n"),
        (["--job", "other"], 1, "Error: no job 'other' is in the archive; there is llama\n"),
        (["--window", "10s..11s"], 1, "Error: nothing is in the part of the traces that is asked"),
        (["--window", "10s..11s", "--only-ranks", "0"], 1, "Error: nothing is in the part"),
        (["--step", 1, "--window", "1ms..2ms"], 2, "--step and --window exclude each other"),
        (["--counters", "quue"], 2, "'quue' is none of queue, bandwidth, utilisation"),
    ],
)
def test_errors(archive, tmp_path, words, status, says):
    result = invoke("perfetto", archive, tmp_path / "out.json", *words)
    assert (result.exit_code, says in result.stderr) == (status, True), result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["perfetto", "counters"])
def test_names_tell_the_format(archive, tmp_path, command):
    result = invoke(command, archive, tmp_path / "out.pftrace")
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {tmp_path / 'out.pftrace'}: name it .json, or .json.gz to have it compressed\n"
    )


def test_several_jobs(archive, made, tmp_path):
    hta_sql.ingest([made / "llama"], tmp_path / "other", job="other")
    result = invoke("perfetto", archive, tmp_path / "other", tmp_path / "out.json")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: 2 jobs are in the archive (llama, other); choose one with --job\n"
    )
    trace = exported("perfetto", archive, tmp_path / "out.json", "--job", "llama")
    assert trace["hta_sql"]["job"] == "llama"


def test_no_half_file_stays(archive, tmp_path):
    out = tmp_path / "out.json"
    out.write_text("before")
    assert invoke("perfetto", archive, out, "--window", "10s..11s").exit_code == 1
    assert out.read_text() == "before" and list(tmp_path.iterdir()) == [out]


# How it is read


def test_nothing_stays_in_the_archive(archive, tmp_path):
    with hta_sql.open(archive) as run:
        perfetto.export_perfetto(run, tmp_path / "a.json")
        with pytest.raises(hta_sql.HtaSqlError):
            perfetto.export_perfetto(run, tmp_path / "b.json", part=perfetto.Part(step=9))
        assert run.sql("SELECT * FROM duckdb_tables()").num_rows == 0


def test_events_of_a_rank_are_read_from_its_file_alone(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(SqlFiles, "drop_tables", lambda *_: None)
    with hta_sql.open(archive) as run:
        perfetto.export_perfetto(
            run, tmp_path / "a.json", part=perfetto.Part(step=1), only_ranks=[0, 1]
        )
        scans = [
            node
            for node in plan(run.session.con, FILES.text("events"))
            if "events/" in str(node["extra_info"].get("Filename(s)", ""))
            or "event_id" in str(node["extra_info"].get("Filters", ""))
        ]
        assert scans
        for scan in scans:
            told = scan["extra_info"]
            assert told["Scanning Files"] == f"1/{RANKS}"
            assert "event_id>=" in str(told["Filters"]).replace(" ", "")
        for name in ("of_step", "in_window", "lanes"):
            query = FILES.text(name).split(" AS\n", 1)[1]
            found = [
                join
                for join in bad_joins(run.session.con, query)
                if "hash(parse_filename" not in join
            ]
            assert [j for j in found if "start_ns" not in j and "NL_JOIN" not in j] == [], name
