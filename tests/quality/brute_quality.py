"""What trace_quality counts, once more in plain Python: activity by activity, call by call."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
HOUR_NS = 3600 * 10**9


def counted(tables: dict[str, list[Row]]) -> dict[tuple, tuple[int, float]]:
    """The count and share of each check that counts activities, calls or spans, by rank."""
    found = {}
    activities, ops = grouped(tables["gpu_activities"]), grouped(tables["host_ops"])
    for rank in {(row["job"], row["rank"]) for row in tables["traces"]}:
        for check, count, share in of_rank(activities[rank], ops[rank]):
            if count:
                found[*rank, check] = (count, share)
    for rank, count, total in lone_calls(tables["gpu_activities"]):
        if count:
            found[*rank, "unpaired_collectives"] = (count, count / total)
    return found


def grouped(rows: list[Row]) -> dict[tuple, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row["job"], row["rank"]].append(row)
    return groups


def is_launch(op: Row) -> bool:
    name = op["name"]
    return op["cat"] == "cuda_runtime" and (
        ("Launch" in name and "HostFunc" not in name) or "Memcpy" in name
    )


def of_rank(activities: list[Row], ops: list[Row]) -> Iterator[tuple[str, int, float]]:
    gpu_ns = max(1, total(activities))
    crossing = [op for op in ops if op["cut_ns"] is not None]
    yield "crossing_spans", len(crossing), len(crossing) / max(1, len(ops))
    if not activities:
        return
    unlinked = [a for a in activities if a["launch_id"] is None]
    yield "unlinked_kernels", len(unlinked), total(unlinked) / gpu_ns
    graph = [a for a in activities if "GraphLaunch" in (a["launch_name"] or "")]
    yield "graph_kernels", len(graph), total(graph) / gpu_ns
    if any(op["name"].startswith("ProfilerStep#") for op in ops):
        outside = [a for a in activities if a["launch_id"] is not None and a["step"] is None]
        yield "work_outside_steps", len(outside), total(outside) / gpu_ns
    yield from of_launches(activities, ops)
    yield from of_streams(activities, gpu_ns)
    first = min((op["start_ns"] for op in ops), default=None)
    last = max((op["end_ns"] for op in ops), default=None)
    odd = [
        a
        for a in activities
        if (a["launch_start_ns"] is not None and a["start_ns"] < a["launch_start_ns"])
        or (first is not None and first - a["start_ns"] >= HOUR_NS)
        or (last is not None and a["end_ns"] - last >= HOUR_NS)
    ]
    yield "impossible_times", len(odd), len(odd) / len(activities)
    talk = [a for a in activities if a["kind"] == "communication"]
    bare = [a for a in talk if not a["collective_name"]]
    yield "missing_collective_arguments", len(bare), total(bare) / max(1, total(talk))
    unnumbered = [a for a in talk if a["collective_name"] and a["seq"] is a["comms_id"] is None]
    yield "missing_collective_numbers", len(unnumbered), len(unnumbered) / max(1, len(talk))


def total(activities: list[Row]) -> int:
    return sum(a["dur_ns"] for a in activities)


def of_launches(activities: list[Row], ops: list[Row]) -> Iterator[tuple[str, int, float]]:
    launches = [op for op in ops if is_launch(op)]
    known = {a["correlation"] for a in activities}
    starts = [a["launch_start_ns"] for a in activities if a["launch_start_ns"] is not None]
    cut = between = 0
    for call in launches:
        if call["correlation"] is None or call["correlation"] in known:
            continue
        on_thread = [op for op in ops if (op["pid"], op["tid"]) == (call["pid"], call["tid"])]
        before = [
            op["name"]
            for op in on_thread
            if (op["start_ns"], op["event_id"]) < (call["start_ns"], call["event_id"])
        ]
        if before.count("cudaStreamBeginCapture") > before.count("cudaStreamEndCapture"):
            continue
        if starts and not min(starts) <= call["start_ns"] <= max(starts):
            cut += 1
        else:
            between += 1
    yield "launches_without_kernel", cut, cut / max(1, len(launches))
    yield "dropped_buffers", between, between / max(1, len(launches))


def of_streams(activities: list[Row], gpu_ns: int) -> Iterator[tuple[str, int, float]]:
    overlaps = common_ns = touching = touching_ns = 0
    for a in activities:
        on_stream = [
            b for b in activities if (b["device"], b["stream"]) == (a["device"], a["stream"])
        ]
        place = (a["start_ns"], a["event_id"])
        earlier = [b for b in on_stream if (b["start_ns"], b["event_id"]) < place]
        instants = {
            at
            for b in earlier
            for at in range(max(a["start_ns"], b["start_ns"]), min(a["end_ns"], b["end_ns"]))
        }
        # Up to the latest end of those before, even if none of them runs at some instant.
        until = min(a["end_ns"], max((b["end_ns"] for b in earlier), default=0))
        common = max(0, until - a["start_ns"])
        assert len(instants) <= common
        if common:
            overlaps += 1
            name = a["launch_name"] or ""
            if "GraphLaunch" not in name and "LaunchKernelEx" not in name:
                common_ns += common
        later = sorted(
            (b for b in on_stream if (b["start_ns"], b["event_id"]) > place),
            key=lambda b: (b["start_ns"], b["event_id"]),
        )
        if later and later[0]["start_ns"] - a["end_ns"] in (0, 1) and a["dur_ns"]:
            touching += 1
            touching_ns += a["dur_ns"]
    yield "overlap_on_stream", overlaps, common_ns / gpu_ns
    is_fine = any(a["start_ns"] % 1000 or a["dur_ns"] % 1000 for a in activities)
    if is_fine and touching >= 10 and touching >= 0.2 * len(activities):
        yield "no_gap_on_stream", touching, touching_ns / gpu_ns


def lone_calls(activities: list[Row]) -> Iterator[tuple[tuple, int, int]]:
    """(job, rank), its calls that a rank of their group lacks, and all its calls there."""
    calls = [
        a
        for a in activities
        if a["kind"] == "communication" and a["collective_name"] not in (None, "", "send", "recv")
    ]

    def group(a: Row) -> tuple:
        return a["job"], a["process_group_name"], a["group_size"]

    result = defaultdict(lambda: [0, 0])
    for of_group in {group(a) for a in calls}:
        members = [a for a in calls if group(a) == of_group]
        ranks = {a["rank"] for a in members}
        key = next((k for k in ("comms_id", "seq") if all(a[k] is not None for a in members)), None)
        if len(ranks) == 1 or key is None:
            continue
        for a in members:
            have = {b["rank"] for b in members if b[key] == a[key]}
            result[a["job"], a["rank"]][0] += have != ranks
            result[a["job"], a["rank"]][1] += 1
    for rank, (lone, all_) in result.items():
        yield rank, lone, all_
