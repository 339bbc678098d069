"""Exported ranks, one and several."""

import re
from collections import Counter, defaultdict

import orjson
import pytest
from export.conftest import RANKS, exported, ns, own, read_again
from export.perfetto.exports import GPU_CATS, check_arrows, processes, rank_of, same_tables

import hta_sql


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


@pytest.fixture(scope="module")
def merged(archive, whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("merged")
    (folder / "rank_0.json").write_bytes(orjson.dumps(whole))
    return read_again(folder / "archive", folder / "rank_0.json")


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


@pytest.mark.parametrize("chosen", [[], ["--only-ranks", 1], ["--step", 1, "--kernels-only"]])
def test_categories(archive, tmp_path, chosen):
    """GPU activities have one more argument, and nothing else changes."""
    plain = exported("perfetto", archive, tmp_path / "plain.json", *chosen)
    trace = exported("perfetto", archive, tmp_path / "out.json", "--categories", *chosen)
    given = defaultdict(set)
    for event in trace["traceEvents"]:
        if event.get("cat") in GPU_CATS:
            given[event["name"]].add(event["args"].pop("Category"))
    assert trace == plain
    wanted = {
        "ncclDevKernel": {"communication"},
        "Memcpy": {"memory"},
        "gemm": {"gemm"},
        "layer_norm": {"normalization"},
    }
    for part, categories in wanted.items():
        found = [given[name] for name in given if part in name]
        assert found and all(each == categories for each in found), part
