"""PyTorch's memory timelines: what they say, and which files are such."""

import json

import pytest
from hand_written import rows, span, trace_text
from ingest.memory_timelines import CHANGES, held, ingested

import hta_sql


def test_changes(tmp_path):
    with ingested(tmp_path, json.dumps(CHANGES)) as run:
        assert rows(
            run,
            "SELECT job, rank, position, at_ns, action, action_id, bytes, category, category_id "
            "FROM memory_events ORDER BY position",
        ) == [
            ("job", 0, 0, -1, "preexisting", 1, 100, "parameter", 0),
            ("job", 0, 1, -1, "preexisting", 1, 20, "unknown", 7),
            ("job", 0, 2, 5, "create", 2, 8, "activation", 4),
            ("job", 0, 3, 5, "increment_version", 3, -8, "activation", 4),
            ("job", 0, 4, 5, "increment_version", 3, 8, "gradient", 5),
            ("job", 0, 5, 9, "destroy", 4, -20, "unknown", 7),
        ]
        assert rows(
            run, "SELECT kind, status, row_count, quarantined_count, rank_source FROM attachments"
        ) == [("memory_timeline", "complete", 6, 0, "file name")]
        assert run.check_tables() == []


def test_numbers_that_pytorch_does_not_write_yet(tmp_path):
    with ingested(tmp_path, "[[1, 9, 5, 8], [1, -1, 5, -1]]") as run:
        assert rows(
            run,
            "SELECT action, action_id, category, category_id FROM memory_events ORDER BY position",
        ) == [(None, 9, None, 8), (None, -1, None, -1)]


@pytest.mark.parametrize(
    "name", ["memory_rank_0.json", "memory_rank_0.json.gz", "rank0.raw.gz", "rank0.RAW.json.GZ"]
)
def test_names(tmp_path, name):
    """The content decides; a folder is searched for *.raw.gz, too."""
    with ingested(tmp_path, json.dumps(CHANGES, indent=1), name) as run:
        assert held(run) == [tuple(change) for change in CHANGES]


OTHERS = {
    # torch.profiler's other export: times, and sizes at each.
    "times and sizes": "[[1, 2, 3, 4], [[0, 5], [0, 6], [0, 7], [0, 8]]]",
    "lists of words": '[["a", "b", "c", "d"]]',
    "lists of five": "[[1, 2, 3, 4, 5]]",
    "numbers": "[1, 2, 3, 4]",
    "no list": '{"a": [[1, 2, 3, 4]]}',
}


@pytest.mark.parametrize("name", ["other.json", "other.raw"])
@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_timeline(tmp_path, kind, name):
    if name == "other.raw" and kind.startswith("lists"):
        pytest.skip("taken for a broken timeline")
    (tmp_path / "job").mkdir()
    (tmp_path / "job/rank_0.json").write_text(trace_text([span()]))
    (tmp_path / "job" / name).write_text(OTHERS[kind])
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert [path.name for path, _ in summary.skipped] == [name]
    assert not summary.attachments and not summary.failed


def test_raw_files_of_anything_else(tmp_path):
    """Found in a folder they are passed over, with a line; named, they have failed."""
    (tmp_path / "job").mkdir()
    (tmp_path / "job/rank_0.json").write_text(trace_text([span()]))
    raw = tmp_path / "job/picture.raw"
    raw.write_bytes(b"\x00\x01\x02")
    assert not hta_sql.ingest(tmp_path / "job", tmp_path / "archive").failed
    summary = hta_sql.ingest([raw, tmp_path / "job"], tmp_path / "archive")
    assert summary.failed == 1
