"""A rank's trace with kernel sequences marked, against a walk through the trace in plain Python."""

from collections import Counter, defaultdict

import pytest
from export.conftest import exported, invoke, ns
from queries.plans import bad_joins

import hta_sql
from hta_sql.export.sql import FILES, tables

GPU_CATS = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")


def walked(events: list[dict], operator: str, min_length: int, top_k: int) -> dict[int, dict]:
    """The marks by place in the file; spans of the demo nest."""
    spans = [
        (i, e)
        for i, e in enumerate(events)
        if e["ph"] == "X"
        and e.get("cat") in ("cpu_op", "user_annotation", "python_function", *CALLS)
    ]
    kernels = defaultdict(list)
    for i, e in enumerate(events):
        if e.get("cat") in GPU_CATS:
            kernels[e["args"]["correlation"]].append((ns(e), i, e["name"]))
    by_thread = defaultdict(list)
    for i, e in spans:
        by_thread[e["pid"], e["tid"]].append((ns(e), -ns(e, "dur"), i, e))
    calls = []
    for thread in by_thread.values():
        inside_until, members = None, None
        for start, minus_dur, i, e in sorted(thread, key=lambda span: span[:3]):
            if inside_until is not None and start < inside_until:
                members.append((i, e))
            elif e["cat"] == "cpu_op" and operator in e["name"]:
                inside_until, members = start - minus_dur, [(i, e)]
                calls.append((e["name"], members))
    sequences, found = Counter(), []
    for name, members in calls:
        launched = sorted(
            kernel
            for _, e in members
            if e["cat"] in CALLS
            for kernel in kernels[e["args"]["correlation"]]
        )
        if len(launched) >= min_length:
            sequence = " | ".join(kernel for *_, kernel in launched)
            sequences[name, sequence] += 1
            found.append((name, sequence, [i for i, _ in members] + [i for _, i, _ in launched]))
    best = sorted(sequences, key=lambda key: (-sequences[key], key))[:top_k]
    return {
        i: {sequence: sequences[name, sequence]}
        for name, sequence, places in found
        if (name, sequence) in best
        for i in places
    }


@pytest.mark.parametrize(
    ("operator", "min_length", "top_k"),
    [
        ("aten::", 3, 5),
        ("aten::", 1, 2),
        ("aten::linear", 1, 5),
        ("Backward", 1, 1),
        ("e", 2, 100),
        ("aten::", 0, 3),
    ],
)
@pytest.mark.parametrize("rank", [0, 2])
def test_marks(archive, source, tmp_path, rank, operator, min_length, top_k):
    trace = exported(
        "sequences",
        archive,
        tmp_path / "s.json",
        "--operator",
        operator,
        "--only-ranks",
        rank,
        "--min-length",
        min_length,
        "--top-k",
        top_k,
    )
    was, events = source[rank]["traceEvents"], trace["traceEvents"]
    marks = {
        i: e["args"]["Patterns"] for i, e in enumerate(events) if "Patterns" in e.get("args", {})
    }
    assert marks == walked(was, operator, min_length, top_k)
    assert marks
    for then, now in zip(was, events, strict=True):
        if then["ph"] == "M":
            then = {key: value for key, value in then.items() if key != "ts"}
        args = {k: v for k, v in now.get("args", {}).items() if k != "Patterns"}
        assert now | {"args": args} == then | {"args": then.get("args", {})}


def test_marks_are_the_query(archive, tmp_path):
    trace = exported(
        "sequences",
        archive,
        tmp_path / "s.json.gz",
        "--operator",
        "aten::",
        "--only-ranks",
        1,
        "--min-length",
        1,
    )
    with hta_sql.open(archive) as run:
        rows = run.kernel_sequences(operator="aten::", only_ranks=[1], min_length=1).to_pylist()[:5]
        ops = run.sql("SELECT event_id, name FROM host_ops WHERE rank = 1 AND cat = 'cpu_op'")
    names = {row["event_id"]: row["name"] for row in ops.to_pylist()}
    marked = Counter()
    for i, event in enumerate(trace["traceEvents"]):
        patterns = event.get("args", {}).get("Patterns")
        if patterns and event.get("cat") in GPU_CATS:
            [(sequence, count)] = patterns.items()
            marked[sequence] += 1
        if patterns and i in names:
            [(sequence, count)] = patterns.items()
            assert any(row["sequence"] == sequence and row["count"] == count for row in rows)
    wanted = Counter()
    for row in rows:
        wanted[row["sequence"]] += row["count"] * row["kernel_count"]
    assert marked == wanted
    for row in rows:
        event = trace["traceEvents"][row["example_event_id"]]
        assert event["name"] == row["operator"]
        assert event["args"]["Patterns"] == {row["sequence"]: row["count"]}


def test_nothing_found(archive, tmp_path):
    result = invoke(
        "sequences", archive, tmp_path / "s.json", "--operator", "nowhere", "--only-ranks", 0
    )
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: job 'llama', rank 0: no operator with 'nowhere' in its name launches 3 or more GPU "
        "activities; try --min-length 1, or a name from `hta-sql run op_stats`\n"
    )
    assert list(tmp_path.iterdir()) == []
    result = invoke("sequences", archive, tmp_path / "s.json", "--only-ranks", 0)
    assert result.exit_code == 2 and "--operator" in result.stderr


def test_no_event_meets_every_operator(archive):
    with hta_sql.open(archive) as run:
        run.session.load()
        with tables(
            run,
            "llama",
            0,
            export_rank=0,
            export_operator="aten::",
            export_min_length=1,
            export_top_k=5,
        ):
            for name in ("sequences", "sequence_operators", "sequence_calls"):
                run.session.con.execute(FILES.text(name))
            found = bad_joins(run.session.con, FILES.text("sequence_members").split(" AS\n", 1)[1])
            run.session.con.execute(FILES.text("sequence_members"))
            found += bad_joins(run.session.con, FILES.text("marks_of_sequences"))
            assert not [join for join in found if "start_ns" in join or "end_ns" in join]
