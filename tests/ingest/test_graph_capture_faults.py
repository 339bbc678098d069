"""Capture traces that cannot be read, or only in part."""

from hand_written import trace_text
from ingest.planted_graphs import CAPTURES, Graph, capture_events, layers, replay_events, whole

import hta_sql

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
