"""What a report says, against the plan and its own SQL."""

import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from report.page.pages import Page, percent

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.show.units import humane

TWO = [
    "What changed",
    "A step of each job",
    "Time per step, before and now",
    "Operators and kernels, before and now",
]

pytestmark = pytest.mark.queries


def test_shares_of_gpu_time(page, truth):
    devices = [rank["device"] for rank in truth["ranks"]]

    def total(name: str) -> int:
        return sum(device[name] for device in devices)

    for fact, column in (
        ("computing", "compute_ns"),
        ("idle", "idle_ns"),
        ("exposed communication", "exposed_communication_ns"),
        ("exposed copies", "exposed_memory_ns"),
    ):
        assert page.facts[fact] == (
            percent(total(column), total("span_ns")),
            "of the time from first to last activity",
        )
    hidden = total("overlap_ns")
    assert page.facts["overlap"][0] == percent(hidden, total("communication_ns"))


def test_counts_and_steps(page, truth):
    assert page.facts["ranks"][0] == "4"
    assert page.facts["events"][0] == f"{sum(r['event_count'] for r in truth['ranks']):,}"
    steps = [step["dur_ns"] / 1e6 for rank in truth["ranks"] for step in rank["steps"]]
    value, word = page.facts["step time"]
    assert value.endswith(" ms") and float(value[:-3]) == pytest.approx(
        sum(steps) / len(steps), rel=0.005
    )
    assert word == "mean of 2 steps on 4 ranks, duration on the host"
    busy = sum(step["busy_ns"] for rank in truth["ranks"] for step in rank["steps"])
    assert page.facts["GPU busy"][0] == percent(busy / 1e6, sum(steps))
    ns, rank, step = max(
        (step["dur_ns"], -rank["rank"], -step["step"])
        for rank in truth["ranks"]
        for step in rank["steps"]
    )
    value, word = page.facts["longest step"]
    assert float(value[:-3]) == pytest.approx(ns / 1e6, rel=0.005)
    assert word == f"step {-step} of rank {-rank}"


def test_sentences(page, truth):
    told = "\n".join(page.paragraphs)
    assert re.findall(r"Rank (\d+) is a straggler: it comes last in ", told) == [
        str(truth["straggler"])
    ]
    devices = {rank["rank"]: rank["device"] for rank in truth["ranks"]}
    share = {rank: device["compute_ns"] / device["span_ns"] for rank, device in devices.items()}
    most = max(share, key=share.get)
    assert f"Rank {most} computes the most: {percent(share[most], 1)} of the time from " in told
    least = min(share, key=share.get)
    assert f"Rank {least} computes the least: {percent(share[least], 1)}." in told
    times = {
        name: sum(device[f"{column}_ns"] for device in devices.values())
        for name, column in (
            ("computing", "compute"),
            ("exposed communication", "exposed_communication"),
            ("exposed copies", "exposed_memory"),
            ("idle", "idle"),
        )
    }
    span = sum(device["span_ns"] for device in devices.values())
    (name, ns), (following, next_ns), *_ = sorted(times.items(), key=lambda item: -item[1])
    assert (
        f"The largest part of the GPU time is {name}: {humane('t_ns', ns)} on all GPUs together, "
        f"{percent(ns, span)} of the time from first to last activity. The next is {following}: "
        f"{humane('t_ns', next_ns)}, {percent(next_ns, span)}."
    ) in told


def test_the_longest_kernel(page, truth):
    totals: dict[str, int] = {}
    for rank in truth["ranks"]:
        for name, found in (rank["kernels"] | rank["copies"]).items():
            totals[name] = totals.get(name, 0) + found["total_ns"]
    name = max(totals, key=totals.get)
    [told] = [text for text in page.paragraphs if "takes the most time of all" in text]
    shown, _, share = told.partition(" takes the most time of all kernels, copies and memsets: ")
    assert name.startswith(shown) and len(shown) > 10
    assert share == f"{percent(totals[name], sum(totals.values()))} of the sum of their durations."


def test_the_chart_of_devices(page, truth):
    drawn = page.figure("GPU time per device, in %")["drawn"]["data"]
    assert [bar["name"] for bar in drawn] == [
        "computing",
        "exposed communication",
        "exposed copies",
        "idle",
    ]
    for bar, column in zip(
        drawn,
        ("compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns"),
        strict=True,
    ):
        assert bar["x"] == [f"rank {rank}" for rank in range(4)]
        assert bar["y"] == pytest.approx(
            [100 * rank["device"][column] / rank["device"]["span_ns"] for rank in truth["ranks"]],
            abs=0.001,
        )


def test_of_two_jobs_the_change_is_told(two):
    assert two.titles[:5] == [*TWO, "What to fix first"]
    assert any("flash_fwd_kernel takes 20." in text for text in two.headings)
    assert two.figure("Kernels whose time changed")["drawn"]["data"][0]["x"][0] > 0


def test_two_jobs_have_bars_and_pictures_on_one_scale(folder, two):
    before, now = two.figure("A step: trimmed means")["bars"]
    with hta_sql.open(folder / "two") as run:
        for job, bar in (("before", before), ("now", now)):
            # Of two steps, none is trimmed: the mean of all steps and ranks.
            rows = run.step_breakdown(only_jobs=[job]).to_pylist()
            for name, column in (("compute", "compute_ns"), ("idle", "idle_ns")):
                mean = sum(row[column] for row in rows) / len(rows)
                assert bar[name] == pytest.approx(mean, abs=2)
    base, test = (
        figure["picture"]
        for figure in two.figures
        if "picture" in figure and figure["section"] == "A step of each job"
    )
    spans = [picture["windows"][0]["span"] for picture in (base, test)]
    assert base["scale"] == test["scale"] == max(spans)
    assert base["categories"] == test["categories"]


# Against its own SQL and commands.


def rows_of_command(command: str) -> list[dict]:
    program, *words = shlex.split(command)
    assert program == "hta-sql"
    result = CliRunner().invoke(cli, [*words, "--format", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("archive", ["four", "two"])
def test_sql_and_commands_give_what_is_shown(folder, page, two, archive):
    figures = (
        page.figures
        if archive == "four"
        else [figure for figure in two.figures if figure["section"] in TWO]
    )
    assert len(figures) > (25 if archive == "four" else 3)
    asked: dict[str, list[dict]] = {}
    with hta_sql.open(folder / archive) as run:
        for figure in figures:
            sql, command = figure["pre"]
            rows = run.sql(sql).to_pylist()
            assert rows
            if command not in asked:  # a chart and a table may be of one answer
                asked[command] = rows_of_command(command)
            assert asked[command] == json.loads(json.dumps(rows, default=str))
            if {"drawn", "picture", "bars"} & set(figure):
                continue
            heads = figure["heads"]
            head, *shown = figure["rows"]
            assert heads and head == [] and 0 < len(shown) <= len(rows)
            for cells, row in zip(shown, rows, strict=False):
                for (text, exact), name in zip(cells, heads, strict=True):
                    value = row[name]
                    if isinstance(value, str) and len(value) > 56:
                        assert len(text) == 56 and "…" in text
                    else:
                        assert text == humane(name, value), (figure["caption"], name)
                    is_number = isinstance(value, int | float) and not isinstance(value, bool)
                    assert exact == (str(value) if is_number else exact)
                    if isinstance(value, str):  # a long one may be cut on the page
                        assert exact == (value if len(value) > 30 else None)
                    elif not isinstance(value, list):
                        assert is_number == (exact is not None)


def test_cut_tables_say_so(page, folder):
    cut = [text for text in page.paragraphs if "more; the command" in text]
    figure = page.figure("Operators: host time")
    with hta_sql.open(folder / "four") as run:
        count = run.sql(figure["pre"][0]).num_rows
    shown = len(figure["rows"]) - 1
    assert (f"{count - shown:,} more; the command below gives all rows" in cut) == (count > shown)


def test_all_queries_are_there_whole(reports, page):
    """Each query that the SQL of a figure names stands at the end, as its file has it."""
    text = unescape(reports["four"].read_text(encoding="utf-8"))
    asked = {
        name for figure in page.figures for name in re.findall(r"\b(\w+)\(", figure["pre"][0])
    } & set(Catalog.load().newest)
    assert len(asked) > 15
    for name in asked:
        assert f'<details id="sql-{name}">' in text
    [file] = Path(__file__).parents[3].glob("sql/queries/**/temporal_breakdown.v1.sql")
    assert file.read_text() in text


# Odd traces.


def test_a_trace_without_a_gpu(reports):
    page = Page(reports["cpu_only"])
    assert page.facts["ranks"][0] == "1" and page.facts["events"][0] == "3"
    assert "computing" not in page.facts
    assert "The traces have no GPU activity." in page.paragraphs
    assert page.titles[0] == "What to fix first"
    assert any(text.startswith("The trace has no GPU activity, so") for text in page.paragraphs)
    assert not any("another step" in text for text in page.paragraphs)  # it has one
    [silent] = [text for text in page.paragraphs if text.startswith("Sections without data: ")]
    for title in ("Where the time goes", "Kernels", "Communication and stragglers"):
        assert title in silent and title not in page.titles


def test_a_trace_without_events(reports):
    page = Page(reports["eventless"])
    assert page.facts["events"][0] == "0"
    assert "The traces have no host events, so they have no critical path." in page.paragraphs
    assert page.titles == [
        "What to fix first",
        "Critical path and what-if",
        "At a glance",
        "Traces",
        "SQL of the queries",
    ]


def test_one_rank_has_sentences_in_place_of_single_bars(reports):
    """Of the 100 us of the step, kernels run for 30 + 10 us, from 20 to 70."""
    page = Page(reports["quarantined"])
    for said in (
        "The GPU, from its first activity to its last: 50.0 µs. Computing 40.0 µs (80.0 %), idle "
        "10.0 µs (20.0 %).",
        "Of all kinds of GPU activity, only one ran in the busy time: computation.",
    ):
        assert said in page.paragraphs
    assert "Ranks side by side" not in page.titles
    for figure in page.figures:
        for trace in figure.get("drawn", {"data": []})["data"]:
            assert trace["type"] not in ("heatmap", "pie")
            assert trace["type"] != "bar" or len(trace["x"]) > 1


def test_a_damaged_trace_is_said_before_any_conclusion(reports):
    page = Page(reports["quarantined"])
    first = page.paragraphs.index(next(text for text in page.paragraphs if "could take" in text))
    said = [text for text in page.paragraphs[:first] if "JavaScript" not in text]
    assert any(text.startswith("The trace's file is damaged (truncated: ") for text in said)
    assert any(text.startswith("2 events of the trace could not be read") for text in said)


def test_what_was_quarantined(reports):
    page = Page(reports["quarantined"])
    [warning] = [text for text in page.paragraphs if "could not be used" in text]
    assert warning.startswith(
        "2 elements of the traces could not be used. Files that are damaged or cut short: 1 of 1."
    )
    table = page.figure("Elements that could not be used")
    at = table["heads"].index("count")
    assert sum(int(row[at][1]) for row in table["rows"][1:]) == 2
    files = page.figure("Trace files")
    row = dict(zip(files["heads"], files["rows"][1], strict=True))
    assert (row["quarantined_count"], row["event_count"]) == (("2", "2"), ("7", "7"))


def test_nothing_quarantined_is_said(page):
    assert "All elements of the files could be used; nothing was quarantined." in page.paragraphs
