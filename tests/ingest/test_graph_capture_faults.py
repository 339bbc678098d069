"""Capture traces that cannot be read, or only in part, or that come at another time."""

import pytest
from hand_written import trace_text
from ingest.planted_graphs import (
    CAPTURES,
    Graph,
    capture_events,
    layers,
    operators,
    replay_events,
    truth_of,
    whole,
)

import hta_sql
from hta_sql.ingestion.watch import keep_up

MODEL = Graph(layers(20), "capture_32_FULL")


def test_a_capture_that_ends_early(tmp_path):
    """Ingest says so: its last launches are lost."""
    folder = tmp_path / "t"
    (folder / "capture_traces").mkdir(parents=True)
    (folder / "rank_0.json").write_text(trace_text(replay_events([whole(0, MODEL)])))
    whole_text = trace_text(capture_events([MODEL]))
    (folder / CAPTURES).write_text(whole_text[: len(whole_text) // 2])
    said = []
    hta_sql.ingest(folder, tmp_path / "archive", workers=1, report=said.append)
    assert [line for line in said if "capture trace: truncated: " in line]


def test_a_capture_that_cannot_be_read(tmp_path):
    graph = Graph(["a"])
    (tmp_path / "t" / "capture_traces").mkdir(parents=True)
    (tmp_path / "t" / "rank_0.json").write_text(trace_text(replay_events([whole(0, graph)])))
    (tmp_path / "t" / CAPTURES).write_text("no JSON")
    said = []
    [outcome] = hta_sql.ingest(tmp_path / "t", tmp_path / "archive", report=said.append).outcomes
    assert outcome.status == "ingested"
    assert [line for line in said if "cannot be used as a capture trace" in line]


@pytest.mark.parametrize("first", ["capture", "trace"])
def test_a_watch_sees_the_other_file_later(tmp_path, first):
    """A capture trace waits for its trace; a trace is read again when its capture trace comes."""
    replays = [whole(0, MODEL)]
    texts = {
        "capture": (CAPTURES, trace_text(capture_events([MODEL]))),
        "trace": ("rank_0.json", trace_text(replay_events(replays))),
    }
    (tmp_path / "t" / CAPTURES).parent.mkdir(parents=True)

    def write(what: str) -> None:
        name, text = texts.pop(what)
        (tmp_path / "t" / name).write_text(text)

    said, statuses = [], []

    def report(line: str) -> None:
        said.append(line)
        if "waits for the trace" in line:
            write("trace")

    def passed(summary) -> None:
        statuses.append([outcome.status for outcome in summary.outcomes])
        if not texts:
            raise KeyboardInterrupt
        write("capture")

    write(first)
    with pytest.raises(KeyboardInterrupt):
        keep_up(
            [tmp_path / "t"],
            tmp_path / "a",
            seconds=0.05,
            report=report,
            passed=passed,
            workers=1,
            planned=lambda counts: None,
            finished=lambda outcome: None,
            progress=lambda done, total: None,
        )
    assert statuses == {"capture": [["ingested"]], "trace": [["ingested"], ["replaced"]]}[first]
    assert len(said) == (first == "capture")
    assert operators(tmp_path / "a") == truth_of([MODEL], replays)
