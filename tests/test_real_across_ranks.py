"""Real traces: each is of one rank, or has no arguments of collectives, so nothing is across ranks;
timelines and busy times against plain Python over the raw JSON."""

from collections import defaultdict

import pytest
from queries.collectives import TYPED_EMPTY
from queries.small_tables import count_computation

from hta_sql.catalogue.catalog import Catalog

QUERIES = tuple(name for name in TYPED_EMPTY if name != "rank_imbalance")


@pytest.mark.parametrize("query", QUERIES)
def test_typed_and_empty(real_run, query):
    table = real_run.query(query)
    declared = [column.name for column in Catalog.load().find(query).columns]
    assert table.column_names == declared and "null" not in map(str, table.schema.types)
    # But for what an odd trace tells of itself.
    assert [row for row in table.to_pylist() if row.get("reason") != "unknown_dtype"] == []


def test_ranks_of_one_job_are_compared(real_run):
    rows = real_run.rank_imbalance().to_pylist()
    assert {row["job"] for row in rows} == {"two_ranks"}
    computed = {
        row["rank"]: row["compute_ns"]
        for row in real_run.temporal_breakdown(only_jobs=["two_ranks"]).to_pylist()
    }
    [compute] = [row for row in rows if row["metric"] == "compute"]
    assert compute["max_ns"] == max(computed.values()) == computed[compute["max_rank"]]


def union(spans) -> int:
    total, until = 0, None
    for start, end in sorted(spans):
        start = start if until is None else max(start, until)
        total += max(0, end - start)
        until = max(end, start) if until is None else max(until, end)
    return total


def test_computation_before_and_behind(real_run):
    rows = real_run.sql("FROM gpu_activities").to_pylist()
    found = [(row.pop("computed_before_ns"), row.pop("hidden_ns")) for row in rows]
    count_computation(rows)
    assert found == [(row["computed_before_ns"], row.get("hidden_ns")) for row in rows]


def test_timeline_and_heatmap(real_run):
    """Every activity is there; the buckets add up to the unions of their times."""
    timeline, spans = defaultdict(set), defaultdict(list)
    for row in real_run.sql("FROM gpu_activities").to_pylist():
        timeline[row["job"], row["rank"]].add((row["event_id"], row["start_ns"], row["dur_ns"]))
        for kind in (row["kind"], "busy"):
            spans[row["job"], row["rank"], kind].append((row["start_ns"], row["end_ns"]))
    shown = defaultdict(set)
    for row in real_run.kernel_timeline().to_pylist():
        shown[row["job"], row["rank"]].add((row["event_id"], row["start_ns"], row["dur_ns"]))
    assert shown == timeline
    busy = defaultdict(int)
    for row in real_run.heatmap(bucket_count=37).to_pylist():
        busy[row["job"], row["rank"], row["kind"]] += row["busy_ns"]
    assert {key: ns for key, ns in busy.items() if ns} == {
        key: union(value) for key, value in spans.items() if union(value)
    }
