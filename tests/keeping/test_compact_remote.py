"""Compaction by command and in object storage."""

import pytest
from click.testing import CliRunner
from fleets import contents
from hand_written import span, trace_text
from written_archives import activity

import hta_sql
from hta_sql.cli import cli
from hta_sql.store import files as keeping_files
from hta_sql.store.manifest import Manifest


def test_command(fleet):
    result = CliRunner().invoke(cli, ["compact", str(fleet), "--only-jobs", "bert"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("2 ranks of 1 job merged into 3 files, ")
    result = CliRunner().invoke(cli, ["compact", str(fleet / "nowhere")])
    assert result.exit_code == 1 and "no such folder" in result.stderr


def test_archives_that_tell_no_counts(make_archive):
    spans = [{"rank": rank, "event_id": 1, "start_ns": 1, "dur_ns": 2} for rank in (0, 1)]
    archive = make_archive(
        events=[row | {"ph": "X"} for row in spans],
        host_ops=spans,
        gpu_activities=[activity(rank=0), activity(rank=1)],
    )
    before = contents(archive)
    assert hta_sql.compact(archive).rank_count == 2
    assert contents(archive) == before


def test_object_storage(fleet, uploaded, monkeypatch):
    before = contents(fleet)
    url = uploaded(fleet, "archive")
    with hta_sql.open(url) as early:
        assert early.sql("SELECT count(*) AS n FROM events WHERE job = 'one'").num_rows
        done = hta_sql.compact(url)
        assert (done.rank_count, done.left) == (5, [])
        # What was found when it was opened is no longer there.
        assert early.kernel_stats(only_jobs=["bert"]).num_rows > 0
        total = "SELECT job, count(*) AS n FROM events GROUP BY ALL ORDER BY ALL"
        with hta_sql.open(fleet) as run:
            assert early.sql(total).to_pylist() == run.sql(total).to_pylist()
    assert contents(url) == before
    names = [
        file.name
        for file in keeping_files.files_of(hta_sql.places.storage.place(url))
        if file.file_id
    ]
    assert len(names) == 9 and sum("/ranks/" in name for name in names) == 6
    stray = hta_sql.places.storage.place(url) / "events/job=bert/rank=9/feedfeedfeedfeed.parquet"
    stray.write_bytes(b"x")
    assert hta_sql.compact(url).unnamed_count == 0 and stray.exists()
    monkeypatch.setattr(keeping_files, "ABANDONED_SECONDS", -60)
    assert hta_sql.compact(url).unnamed_count == 1 and not stray.exists()
    assert contents(url) == before


def test_object_storage_changes_of_manifests_become_one(tmp_path, bucket):
    job = tmp_path / "j"
    job.mkdir()
    url = f"{bucket}/archive"
    for rank in range(3):
        (job / f"rank_{rank}.json").write_text(trace_text([span("op", ts=1)]))
        hta_sql.ingest(job / f"rank_{rank}.json", url, workers=1)
    manifest = Manifest(hta_sql.places.storage.place(url))
    assert len(manifest.parts()) >= 3
    before = contents(url)
    done = hta_sql.compact(url)
    assert done.change_count >= 4 and len(manifest.parts()) == 1
    assert contents(url) == before
    (job / "rank_1.json").write_text(trace_text([span("op", ts=1), span("op", ts=5)]))
    hta_sql.ingest(job, url, workers=1)
    assert [row["rank"] for row in contents(url)["events"]] == [0, 1, 1, 2]
    hta_sql.compact(url)
    assert [row["rank"] for row in contents(url)["events"]] == [0, 1, 1, 2]


def test_object_storage_a_trace_ingested_while_its_job_is_moved(tmp_path, bucket, monkeypatch):
    """The row that tells where the old trace is now does not bring it back."""
    job = tmp_path / "j"
    job.mkdir()
    for rank in range(2):
        (job / f"rank_{rank}.json").write_text(trace_text([span("old", ts=1)]))
    url = f"{bucket}/archive"
    hta_sql.ingest(job, url, workers=1)
    move = Manifest.move

    def ingest_first(self, moves):
        (job / "rank_1.json").write_text(trace_text([span("new", ts=1), span("new", ts=5)]))
        hta_sql.ingest(job, url, workers=1)
        return move(self, moves)

    monkeypatch.setattr(Manifest, "move", ingest_first)
    hta_sql.compact(url)
    assert [row["name"] for row in contents(url)["events"]] == ["old", "new", "new"]


@pytest.mark.parametrize("inner", ["compact", "retag"])
def test_object_storage_tags_told_while_a_job_is_moved(tmp_path, bucket, monkeypatch, inner):
    """Both count: the new tags, and the new place of the files."""
    job = tmp_path / "j"
    job.mkdir()
    for rank in range(2):
        (job / f"rank_{rank}.json").write_text(trace_text([span("op", ts=1)]))
    url = f"{bucket}/archive"
    hta_sql.ingest(job, url, workers=1, tags={"model": "old"})
    actions = {
        "compact": lambda: hta_sql.compact(url),
        "retag": lambda: hta_sql.ingest(job, url, workers=1, tags={"model": "new"}),
    }
    renew = Manifest._renew

    def other_first(self, *given):
        monkeypatch.setattr(Manifest, "_renew", renew)
        actions.pop(inner)()
        renew(self, *given)

    monkeypatch.setattr(Manifest, "_renew", other_first)
    actions[next(name for name in actions if name != inner)]()
    rows = Manifest(hta_sql.places.storage.place(url)).rows()
    assert [dict(row["tags"]) for row in rows] == [{"model": "new"}] * 2
    assert len({row["file_id"] for row in rows}) == 1
    assert [row["name"] for row in contents(url)["events"]] == ["op", "op"]
