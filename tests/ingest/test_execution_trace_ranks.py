"""Execution traces: of which rank they are."""

import gzip

import pyarrow.parquet as pq
import pytest
from hand_written import rows, span, trace_text
from ingest.execution_traces import attached, execution_trace, node, write, write_trace

import hta_sql
from hta_sql.errors import IngestError


def test_rank_as_told(tmp_path):
    """By the user, else by the file's name; a trace of the job does not matter then."""
    write_trace(tmp_path / "job/rank_5.json")
    one = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    write(tmp_path / "job/et-rank-3.json.gz", gzip.compress(execution_trace([node(2)]).encode()))
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive", ranks={9: one})
    assert attached(tmp_path / "archive") == [
        ("job", 3, "execution_trace", "file name"),
        ("job", 9, "execution_trace", "given"),
    ]


def test_several_files_told_to_be_of_one_rank(tmp_path):
    trace = write_trace(tmp_path / "job/a.json")
    other = write(tmp_path / "job/b.json", execution_trace([node(2)]))
    hta_sql.ingest([trace, other], tmp_path / "archive", ranks={4: [trace, other]})
    assert attached(tmp_path / "archive") == [("job", 4, "execution_trace", "given")]
    with pytest.raises(IngestError, match="rank 4 and rank 5"):
        hta_sql.ingest(trace, tmp_path / "archive", ranks={4: [trace], 5: [trace]})


@pytest.mark.parametrize("at_once", [True, False])
def test_rank_of_the_only_trace(tmp_path, at_once):
    said = []
    trace = write_trace(tmp_path / "job/rank_5.json")
    other = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    for files in [[trace, other]] if at_once else [[trace], [other]]:
        hta_sql.ingest(files, tmp_path / "archive", report=said.append)
    assert attached(tmp_path / "archive") == [("job", 5, "execution_trace", "only rank")]
    assert said == []


def test_rank_by_the_process(tmp_path):
    """Of several ranks the one whose operations ran in the process; not where several did."""
    for rank in (0, 1, 2):
        write_trace(tmp_path / f"job/rank_{rank}.json", pid=100 + min(rank, 1))
    for name, pid in (("a", 100), ("b", 101)):
        write(tmp_path / f"job/et_{name}.json", execution_trace([node(2)], pid=pid))
    said = []
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive", report=said.append)
    assert attached(tmp_path / "archive") == [
        ("job", 0, "execution_trace", "pid"),
        ("job", 1, "execution_trace", "order"),
    ]
    [line] = said
    assert "et_b.json" in line and "rank 1" in line and "--rank" in line


def test_rank_by_the_process_after_compact(tmp_path):
    """Also of a rank ingested anew, whose old rows are still in the file that ranks share."""
    archive = tmp_path / "archive"
    for rank in (0, 1, 2):
        write_trace(tmp_path / f"job/rank_{rank}.json", pid=100 + rank)
    hta_sql.ingest(tmp_path / "job", archive)
    hta_sql.compact(archive)
    write_trace(tmp_path / "job/rank_1.json", pid=201)
    hta_sql.ingest(tmp_path / "job", archive)
    for name, pid in (("a", 102), ("b", 201), ("c", 100), ("d", 101)):
        write(tmp_path / f"job/et_{name}.json", execution_trace([node(2)], pid=pid))
    summary = hta_sql.ingest(tmp_path / "job", archive)
    assert {o.path.name: (o.rank, o.status) for o in summary.attachments} == {
        "et_a.json": (2, "ingested"),
        "et_b.json": (1, "ingested"),
        "et_c.json": (0, "ingested"),
        "et_d.json": (3, "ingested"),
    }
    assert [source for *_, source in attached(archive)] == ["pid"] * 3 + ["order"]


def test_rank_by_the_process_of_ranks_without_operations(tmp_path):
    """Together they have no file."""
    archive = tmp_path / "archive"
    for rank in (0, 1):
        write(tmp_path / f"job/rank_{rank}.json", trace_text([span(cat="kernel")]))
    hta_sql.ingest(tmp_path / "job", archive)
    hta_sql.compact(archive)
    et = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    assert [o.error for o in hta_sql.ingest(et, archive).attachments] == [None]


@pytest.mark.parametrize("broken", ["gone", "damaged"])
def test_processes_that_cannot_be_read(tmp_path, broken):
    """They fail the files that need them, and no other."""
    archive = tmp_path / "archive"
    for job in ("bad", "good"):
        for rank in (0, 1):
            write_trace(tmp_path / f"t/{job}/rank_{rank}.json", pid=100 + rank)
    hta_sql.ingest(tmp_path / "t", archive)
    [file] = archive.glob("host_ops/job=bad/rank=1/*.parquet")
    file.unlink() if broken == "gone" else file.write_bytes(b"PAR1 and no more")
    for job in ("bad", "good"):
        write(tmp_path / f"t/{job}/et.json", execution_trace([node(2)], pid=101))
        write(tmp_path / f"t/{job}/et_rank_5.json", execution_trace([node(2)], pid=101))
    # Without the traces: an ingest of them would repair the file.
    summary = hta_sql.ingest(sorted(tmp_path.glob("t/*/et*.json")), archive)
    found = {(o.job, o.path.name): (o.rank, o.status) for o in summary.attachments}
    assert found == {
        ("bad", "et.json"): (None, "failed"),
        ("bad", "et_rank_5.json"): (5, "ingested"),
        ("good", "et.json"): (1, "ingested"),
        ("good", "et_rank_5.json"): (5, "ingested"),
    }
    [error] = [outcome.error for outcome in summary.attachments if outcome.error]
    assert error.startswith("cannot find its rank by its process: ") and "--rank" in error


def test_processes_of_a_job_are_read_once(tmp_path, monkeypatch):
    """However many files ask for them."""
    for rank in range(4):
        write_trace(tmp_path / f"job/rank_{rank}.json", pid=100 + rank)
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    for rank in range(4):
        write(tmp_path / f"job/et_{rank}x.json", execution_trace([node(2)], pid=100 + rank))
    opened, is_opened = [], pq.ParquetFile.__init__

    def note(self, source, *given, **more):
        opened.append(str(source))
        is_opened(self, source, *given, **more)

    monkeypatch.setattr(pq.ParquetFile, "__init__", note)
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive", workers=1)
    assert [row[1:] for row in attached(tmp_path / "archive")] == [
        (rank, "execution_trace", "pid") for rank in range(4)
    ]
    assert len([path for path in opened if "/host_ops/" in path]) == 4


def test_rank_by_order(tmp_path):
    """And the same again: a file keeps the rank that it has in the archive."""
    for name in ("et_a", "et_b"):
        write(tmp_path / f"job/{name}.json", execution_trace([node(2)]))
    said = []
    for _ in range(2):
        summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive", report=said.append)
        assert [(o.path.name, o.rank) for o in summary.attachments] == [
            ("et_a.json", 0),
            ("et_b.json", 1),
        ]
    assert [o.status for o in summary.attachments] == ["unchanged"] * 2
    assert len(said) == 2 and "found no rank for this execution trace" in said[0]
    (tmp_path / "job/et_a.json").unlink()
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert [(o.rank, o.status) for o in summary.attachments] == [(1, "unchanged")]


def test_jobs_are_those_of_folders(tmp_path):
    write_trace(tmp_path / "one/rank_0.json")
    write(tmp_path / "one/et/et.json", execution_trace([node(2)]))
    hta_sql.ingest(tmp_path / "one", tmp_path / "a")
    assert attached(tmp_path / "a") == [("et", 0, "execution_trace", "order")]
    hta_sql.ingest(tmp_path / "one", tmp_path / "b", job="mine")
    assert attached(tmp_path / "b") == [("mine", 0, "execution_trace", "only rank")]


def test_two_of_one_rank(tmp_path):
    """The second one fails and says what to do; the trace and the first are in the archive."""
    write_trace(tmp_path / "job/rank_0.json")
    for name in ("et_a", "et_b"):
        write(tmp_path / f"job/{name}.json", execution_trace([node(2)]))
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert summary.failed == 1
    assert [(o.path.name, o.status) for o in summary.attachments] == [
        ("et_a.json", "ingested"),
        ("et_b.json", "failed"),
    ]
    error = summary.attachments[1].error
    assert "et_a.json" in error and "rank 0" in error and "--rank" in error and "\n" not in error
    assert [o.status for o in summary.traces] == ["ingested"]
    # The one that the archive has goes first from now on.
    write(tmp_path / "job/et_0.json", execution_trace([node(2)]))
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert {o.path.name: o.status for o in summary.attachments} == {
        "et_0.json": "failed",
        "et_a.json": "unchanged",
        "et_b.json": "failed",
    }
    (tmp_path / "job/et_0.json").unlink()
    write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)]))
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "fresh")
    assert {o.path.name: o.status for o in summary.attachments} == {
        "et_a.json": "failed",
        "et_b.json": "failed",
        "et_rank_0.json": "ingested",
    }


def test_same_rank_from_elsewhere(tmp_path):
    trace = write_trace(tmp_path / "job/rank_0.json")
    one = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    two = write(tmp_path / "other/job/et.json", execution_trace([node(2), node(3)]))
    archive = tmp_path / "archive"
    hta_sql.ingest([trace, one], archive)
    summary = hta_sql.ingest([two, trace], archive)
    [failed] = summary.attachments
    assert failed.status == "failed" and str(one) in failed.error and "--force" in failed.error
    assert [o.status for o in summary.traces] == ["unchanged"]
    assert hta_sql.ingest(two, archive, force=True).attachments[0].status == "replaced"
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT count(*) FROM execution_nodes") == [(2,)]
        assert rows(run, "SELECT count(*) FROM events") == [(3,)]
