"""Exports as Perfetto's own UI reads them, beside the events of their files."""

import gzip
import json
import re
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import pytest
from export.conftest import invoke
from export.perfetto.ui import opened
from real_files import TRACES

import hta_sql
from hta_sql.export.perfetto import export_perfetto

pytestmark = pytest.mark.browser

Slice = tuple[int, int, str, str | None]


def events_of(file: Path) -> list[dict]:
    """The events, with exact times."""
    return json.loads(gzip.decompress(file.read_bytes()), parse_float=Decimal)["traceEvents"]


def ns(event: dict, key: str = "ts") -> int:
    return int(Decimal(event.get(key, 0)) * 1000)


def slices(events: list[dict]) -> tuple[Counter[Slice], Counter[Slice]]:
    """All spans and instants, and those of them that end after an open one of their lane.

    Perfetto does not draw these, and says how many there are.
    """
    lanes = defaultdict(list)
    for event in events:
        if event["ph"] in ("X", "i"):
            lanes[event["ph"] == "i", event.get("pid"), event.get("tid")].append(event)
    every: Counter[Slice] = Counter()
    crossing: Counter[Slice] = Counter()
    for (is_instant, *_), lane in lanes.items():
        ends: list[int] = []
        for event in sorted(lane, key=lambda e: (ns(e), -ns(e, "dur"))):
            at, end = ns(event), ns(event) + ns(event, "dur")
            shown = (at, end - at, event["name"], event.get("cat"))
            every[shown] += 1
            while ends and ends[-1] <= at:
                ends.pop()
            if ends and end > ends[-1]:
                crossing[shown] += 1
            elif not is_instant:
                ends.append(end)
    return every, crossing


def check(trace, events: list[dict]) -> None:
    every, crossing = slices(events)
    shown = Counter(trace.ask("SELECT ts, dur, name, category FROM slice"))
    assert shown == every - crossing
    problems = trace.ask(
        "SELECT name, value FROM stats WHERE severity <> 'info' AND value > 0 "
        "AND name <> 'flow_no_enclosing_slice'"  # arrows that lead out of a part
    )
    dropped = [("slice_drop_overlapping_complete_event", crossing.total())]
    assert problems == (dropped if crossing else [])
    assert Counter(
        trace.ask(
            "SELECT t.name, c.ts, round(c.value, 12) FROM counter AS c JOIN counter_track AS t "
            "ON t.id = c.track_id"
        )
    ) == Counter(
        (f"{e['name']} {key}", ns(e), round(float(value), 12))
        for e in events
        if e["ph"] == "C"
        for key, value in e["args"].items()
    )


def test_a_job_of_several_ranks(chromium, archive, tmp_path):
    """To the nanosecond: spans, counters and arrows."""
    file = tmp_path / "job.json.gz"
    assert invoke("perfetto", archive, file).exit_code == 0
    events = events_of(file)
    with opened(chromium, file) as trace:
        check(trace, events)
        [(arrows,)] = trace.ask("SELECT count(*) FROM flow")
        assert arrows == sum(e["ph"] == "s" for e in events) > 1000
        processes = dict(trace.ask("SELECT pid, name FROM process WHERE name IS NOT NULL"))
        told = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        assert processes == told and processes[10_000] == "Job"
        # One line per queue, as the query has them.
        lines = trace.ask(
            "SELECT t.name, count(DISTINCT t.id), count(*) FROM counter AS c "
            "JOIN counter_track AS t ON t.id = c.track_id WHERE t.name GLOB 'Queue*' GROUP BY 1"
        )
        with hta_sql.open(archive) as run:
            wanted = run.sql(
                "SELECT 'Queue length of stream ' || stream || ' (launches)', "
                "count(DISTINCT rank), count(*) FROM queue_length_series() GROUP BY stream"
            )
        assert sorted(lines) == sorted(tuple(row.values()) for row in wanted.to_pylist())


@pytest.mark.parametrize(
    ("words", "what"),
    [(["--step", 1], "step 1"), (["--window", "10ms..15ms", "--only-ranks", 2], "the window")],
)
def test_the_link_shows_the_part(chromium, archive, tmp_path, words, what):
    file = tmp_path / "part.json.gz"
    said = invoke("perfetto", archive, file, *words).stderr.splitlines()
    told = re.fullmatch(f"To see {what}, open the file in (https://.*)", said[0])
    events = events_of(file)
    if "--step" in words:
        [wanted] = {(ns(e), ns(e) + ns(e, "dur")) for e in events if e["name"] == "step 1"}
    else:
        wanted = None
    with opened(chromium, file, told[1]) as trace:
        check(trace, events)
        from_ns, until_ns = trace.visible_ns()
        kernels = [(ns(e), ns(e) + ns(e, "dur")) for e in events if e.get("cat") == "kernel"]
    if wanted:  # on the host, and its activities
        assert (from_ns, until_ns) == (wanted[0], max(wanted[1], max(end for _, end in kernels)))
    else:
        assert 4_900_000 < until_ns - from_ns <= 5_000_000
        assert all(start < until_ns and end > from_ns for start, end in kernels)


@pytest.mark.real
@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder")
@pytest.mark.parametrize("job", ["h100_bert", "mi300_bert", "two_ranks", "alexnet"])
def test_real_traces(chromium, tmp_path, job):
    hta_sql.ingest([TRACES / job], tmp_path / "archive", job=job)
    with hta_sql.open(tmp_path / "archive") as run:
        export_perfetto(run, tmp_path / "job.json.gz")
    with opened(chromium, tmp_path / "job.json.gz") as trace:
        check(trace, events_of(tmp_path / "job.json.gz"))
