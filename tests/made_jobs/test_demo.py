"""Made-up jobs: what is in them."""

from collections import Counter

import pytest
from made_jobs.traces import SMALL, load, of

from hta_sql.demo import write_job

FORMATS = ["based", "based_late", "absolute", "integer", "unpadded"]


HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"}


def test_a_folder_holds_one_job(tmp_path):
    write_job(tmp_path, ranks=3, steps=1, layers=1)
    write_job(tmp_path, ranks=1, steps=1, layers=1, gzip=False)
    assert {path.name for path in tmp_path.iterdir()} == {"rank_0.json", "truth.json"}


def gpu(events):
    return [event for event in events if "kind" in event]


def breakdown(activities) -> dict:
    """Brute force: every activity is asked about every segment between two boundaries."""
    bounds = sorted({event[end] for event in activities for end in ("start", "end")})
    exclusive = Counter()
    for low, high in zip(bounds, bounds[1:], strict=False):
        kinds = {e["kind"] for e in activities if e["start"] <= low and e["end"] >= high}
        if kinds:
            exclusive["+".join(sorted(kinds))] += high - low

    def covered(kind):
        intervals = sorted((e["start"], e["end"]) for e in activities if kind in ("", e["kind"]))
        length, reached = 0, 0
        for start, end in intervals:
            length += max(0, end - max(start, reached))
            reached = max(reached, end)
        return length

    busy, compute, communication = covered(""), covered("computation"), covered("communication")
    overlap = sum(n for k, n in exclusive.items() if "communication+computation" in k)
    return {
        "span_ns": bounds[-1] - bounds[0],
        "busy_ns": busy,
        "idle_ns": bounds[-1] - bounds[0] - busy,
        "compute_ns": compute,
        "communication_ns": communication,
        "memory_ns": covered("memory"),
        "exposed_communication_ns": communication - overlap,
        "exposed_memory_ns": exclusive["memory"],
        "overlap_ns": overlap,
        "exclusive_ns": {kinds: ns for kinds, ns in exclusive.items() if ns},
    }


def depths(events) -> Counter:
    """Host events at each depth; fails unless they nest without touching."""
    counts, stacks = Counter(), {}
    for event in sorted(of(events, *HOST), key=lambda e: (e["start"], -e["end"])):
        assert event["start"] < event["end"]
        stack = stacks.setdefault((event["pid"], event["tid"]), [])
        while stack and stack[-1]["end"] < event["start"]:
            stack.pop()
        if stack:
            assert stack[-1]["start"] < event["start"] < event["end"] < stack[-1]["end"]
        counts[len(stack)] += 1
        stack.append(event)
    return counts


@pytest.mark.parametrize("time_format", FORMATS)
def test_truth_agrees_with_the_text(job, time_format):
    texts, truth = job(time_format=time_format)
    assert len(texts) == len(truth["ranks"]) == 2
    for text, expected in zip(texts, truth["ranks"], strict=True):
        _, events = load(text, time_format)
        activities = gpu(events)
        assert len(events) == expected["event_count"]
        assert len(activities) == expected["gpu_activity_count"]
        assert len(of(events, *HOST)) == expected["host_op_count"]
        assert breakdown(activities) == expected["device"]

        calls = {e["args"]["correlation"]: e for e in of(events, "cuda_runtime", "cuda_driver")}
        steps = [e for e in of(events, "user_annotation") if e["name"].startswith("ProfilerStep#")]
        assert len(steps) == len(expected["steps"]) == 2
        for step, figures in zip(steps, expected["steps"], strict=True):
            launched = [
                activity
                for activity in activities
                if step["start"] <= calls[activity["args"]["correlation"]]["start"] < step["end"]
            ]
            ops = [e for e in of(events, "cpu_op") if step["start"] <= e["start"] < step["end"]]
            assert step["name"] == f"ProfilerStep#{figures['step']}"
            assert figures == {
                "step": figures["step"],
                "start_ns": step["start"],
                "dur_ns": step["end"] - step["start"],
                "kernel_count": len(launched),
                "op_count": len(ops),
                **breakdown(launched),
            }

        kernels = {}
        for kernel in of(events, "kernel"):
            total = kernels.setdefault(kernel["name"], {"count": 0, "total_ns": 0})
            total["count"] += 1
            total["total_ns"] += kernel["end"] - kernel["start"]
        assert kernels == expected["kernels"]


@pytest.mark.parametrize("time_format", FORMATS)
def test_host_events_nest_and_launches_come_first(job, time_format):
    texts, truth = job(time_format=time_format)
    for text, expected in zip(texts, truth["ranks"], strict=True):
        _, events = load(text, time_format)
        counted = depths(events)
        stack = expected["call_stack"]
        assert [counted[i] for i in sorted(counted)] == stack["host_op_count_by_depth"]
        assert (max(counted), counted[0]) == (stack["max_depth"], stack["root_count"])

        calls = {e["args"]["correlation"]: e for e in of(events, "cuda_runtime", "cuda_driver")}
        free = {}
        for activity in gpu(events):
            assert activity["start"] >= calls[activity["args"]["correlation"]]["start"]
            assert activity["start"] >= free.get(activity["tid"], 0)
            free[activity["tid"]] = activity["end"]


@pytest.mark.parametrize("time_format", ["based", "integer"])
def test_collectives_end_together_on_true_time(job, time_format):
    texts, truth = job(ranks=5, time_format=time_format)
    written, reference, slack = {}, truth["clock_reference_ns"], 2 * truth["tick_ns"]
    for rank, text in enumerate(texts):
        for e in load(text, time_format)[1]:
            if e.get("kind") == "communication":
                args = e["args"]
                key = args["Process Group Name"], args["Process Group Ranks"], args["Seq"]
                written.setdefault(key, {})[rank] = (e["start"], e["end"] - e["start"], args)
    assert len(written) == truth["collective_count"] == len(truth["collectives"]) == 2 * 2 * 5
    assert {(c["process_group"], tuple(c["members"])) for c in truth["collectives"]} == {
        ("0", (0, 1, 2, 3, 4)),
        ("1", (0, 1)),
        ("1", (2, 3, 4)),
    }
    apart = 0
    for collective in truth["collectives"]:
        key = collective["process_group"], str(collective["members"]), collective["seq"]
        members = written.pop(key)
        assert sorted(members) == collective["members"]
        ends = []
        for rank, (start, dur, args) in members.items():
            assert collective["ranks"][str(rank)] == {"start_ns": start, "dur_ns": dur}
            assert args["Comms Id"] == collective["comms_id"] > 2**53
            assert args["Collective name"] == collective["name"]
            clock = truth["ranks"][rank]
            local = start + dur - clock["clock_offset_ns"] - reference
            ends.append(local - local * clock["drift_ppm"] // 1_000_000)
        assert max(ends) - min(ends) <= slack
        plain = [start + dur for start, dur, _ in members.values()]
        apart += max(plain) - min(plain) > slack
    assert not written and apart > 10


def test_same_arguments_same_bytes(tmp_path):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_job(tmp_path / folder, **SMALL, seed=seed)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["rank_0.json.gz", "rank_1.json.gz", "truth.json"]
    for name in names:
        a, b, c = ((tmp_path / folder / name).read_bytes() for folder in "abc")
        assert a == b
        assert a != c


def test_plain_files_hold_the_same_text(job, tmp_path):
    paths = write_job(tmp_path, **SMALL, gzip=False)
    for path, text in zip(paths, job()[0], strict=True):
        assert path.suffix == ".json"
        plain = path.read_text()
        assert plain.replace(path.name, path.name + ".gz") == text


@pytest.mark.parametrize(
    ("ids", "present"), [("comms_id", {"Seq", "Comms Id"}), ("seq", {"Seq"}), ("none", set())]
)
def test_collective_ids(job, ids, present):
    texts, truth = job(collective_ids=ids)
    _, events = load(texts[1])
    carriers = [e for e in events if "Collective name" in e.get("args", {})]
    assert Counter(e["cat"] for e in carriers) == {"kernel": 12, "cpu_op": 12}
    for event in carriers:
        assert {"Seq", "Comms Id"} & set(event["args"]) == present
        assert event["args"]["Process Group Ranks"] == "[0, 1]"
    assert all((c["comms_id"] is None) == (ids != "comms_id") for c in truth["collectives"])


@pytest.mark.parametrize("time_format", FORMATS)
def test_top_level_keys(job, time_format):
    texts, _ = job(time_format=time_format)
    trace, _ = load(texts[0], time_format)
    keys = list(trace)
    after = keys[keys.index("traceEvents") + 1 :]
    assert after == {
        "based": ["traceName"],
        "based_late": ["traceName", "displayTimeUnit", "baseTimeNanoseconds"],
        "integer": ["traceName"],
    }.get(time_format, ["traceName", "displayTimeUnit"])
    assert len(trace["deviceProperties"]) == 8
    assert trace["distributedInfo"]["rank"] == 0
    assert trace["distributedInfo"]["pg_config"][0]["ranks"] == [0, 1]


def test_every_kind_of_row_is_there(job):
    texts, _ = job()
    _, events = load(texts[0])
    assert Counter((e["ph"], e.get("cat")) for e in events).keys() == {
        *(("X", category) for category in HOST),
        *(("X", c) for c in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "Trace")),
        ("X", "gpu_user_annotation"),
        ("i", "cpu_instant_event"),
        ("i", None),
        ("M", None),
        ("s", "ac2g"),
        ("f", "ac2g"),
        ("s", "fwdbwd"),
        ("f", "fwdbwd"),
    }
    assert events[-1]["name"] == "Record Window End"
    assert any('{"reduction": "mean"}' in event["name"] for event in events)
    kinds = {e["args"]["cuda_sync_kind"] for e in of(events, "cuda_sync")}
    assert kinds == {"Stream Sync", "Stream Wait Event", "Context Sync"}


def test_flows_pair_up(job):
    texts, _ = job()
    _, events = load(texts[0])
    for category in ("ac2g", "fwdbwd"):
        starts = Counter(e["id"] for e in of(events, category) if e["ph"] == "s")
        ends = Counter(e["id"] for e in of(events, category) if e["ph"] == "f")
        assert starts == ends and set(starts.values()) == {1}
    assert len(gpu(events)) == sum(e["ph"] == "s" for e in of(events, "ac2g"))
    backward = [e for e in of(events, "cpu_op") if e["args"].get("Fwd thread id")]
    forward = {
        e["args"]["Sequence number"]
        for e in of(events, "cpu_op")
        if e["args"].get("Fwd thread id") == 0
    }
    assert {e["args"]["Sequence number"] for e in backward} == forward
    assert backward[0]["tid"] != of(events, "user_annotation")[0]["tid"]


def test_memory_is_given_back(job):
    texts, _ = job()
    rows = [e["args"] for e in load(texts[0])[1] if e["name"] == "[memory]"]
    assert sum(row["Bytes"] for row in rows) == 0
    for before, row in zip(rows, rows[1:], strict=False):
        assert row["Total Allocated"] == before["Total Allocated"] + row["Bytes"]


def test_the_straggler_computes_longer_and_waits_less(job):
    def totals(straggler):
        truth = job(ranks=3, straggler=straggler)[1]
        assert truth["straggler"] == straggler
        devices = [rank["device"] for rank in truth["ranks"]]
        return (
            [device["compute_ns"] for device in devices],
            [device["communication_ns"] for device in devices],
        )

    compute, communication = totals(1)
    assert min(compute) * 1.15 < compute[1] == max(compute) < min(compute) * 1.25
    assert communication[1] == min(communication) < 0.8 * communication[0]
    compute, _ = totals(None)
    assert max(compute) < 1.05 * min(compute)
    assert job(ranks=3)[1]["straggler"] == 2
