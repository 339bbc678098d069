"""What can go wrong with object storage is one line that says what to do."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.errors import HtaSqlError
from hta_sql.ingestion import pool


def refused(*args: str) -> str:
    """The line that a command ends with."""
    result = CliRunner().invoke(cli, list(map(str, args)))
    assert result.exit_code == 1, result.output
    [line] = [line for line in result.output.splitlines() if line]
    assert line.startswith("Error: ")
    return line


@pytest.fixture
def fresh(monkeypatch):
    """No client is left of the tests before, since it would keep their keys and endpoint."""
    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()
    yield monkeypatch
    S3FileSystem.clear_instance_cache()


@pytest.fixture
def trace(tmp_path) -> Path:
    [file] = write_job(tmp_path / "job", ranks=1, steps=1, layers=1)
    return file


def test_no_such_bucket_archive_or_traces(s3, bucket, trace):
    assert "s3://no-such/archive: The specified bucket does not exist" in refused(
        "run", "temporal_breakdown", "s3://no-such/archive"
    )
    assert "The specified bucket does not exist" in refused("ingest", trace, "s3://no-such/a")
    assert "The specified bucket does not exist" in refused("ingest", "s3://no-such/t", bucket)
    assert f"{bucket}/a: this is not an archive; `hta-sql ingest" in refused("check", f"{bucket}/a")
    assert f"{bucket}/t: no such object" in refused("ingest", f"{bucket}/t", f"{bucket}/a")
    assert f"no object matches {bucket}/*.json" in refused(
        "ingest", f"{bucket}/*.json", f"{bucket}/a"
    )


def test_a_list_of_objects_that_are_not_there(bucket, trace, tmp_path):
    listed = tmp_path / "list.csv"
    listed.write_text(f"path,job\n{trace},here\n{bucket}/gone/rank_0.json,gone\n")
    summary = hta_sql.ingest(listed, tmp_path / "a")
    assert [(o.job, o.error) for o in summary.traces] == [
        ("gone", "no such object"),
        ("here", None),
    ]


def test_an_archive_is_not_put_among_other_objects(bucket, fs, trace):
    fs.pipe_file(f"{bucket}/things/a.txt", b"mine")
    assert "has other files (a.txt, …) and is not an archive" in refused(
        "ingest", trace, f"{bucket}/things"
    )


def test_access_denied(s3, bucket, trace):
    for args in (
        ["sql", "s3://forbidden/archive", "FROM traces"],
        ["ingest", "s3://forbidden/traces", bucket + "/a"],
        ["ingest", trace, "s3://forbidden/archive"],
    ):
        line = refused(*args)
        assert "s3://forbidden/" in line and "check that the credentials" in line


def test_no_credentials(fresh, s3, trace):
    fresh.delenv("AWS_ACCESS_KEY_ID")
    fresh.delenv("AWS_SECRET_ACCESS_KEY")
    fresh.setenv("AWS_EC2_METADATA_DISABLED", "true")
    line = refused("run", "temporal_breakdown", "s3://bucket/archive")
    assert "s3://bucket/archive: Unable to locate credentials; set them as for the AWS" in line
    with pytest.raises(HtaSqlError, match="Unable to locate credentials"):
        hta_sql.open("s3://bucket/archive")
    with pytest.raises(HtaSqlError, match="Unable to locate credentials"):
        hta_sql.ingest(trace, "s3://bucket/archive")


def test_nobody_at_the_endpoint(fresh, s3):
    fresh.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    fresh.setenv("AWS_MAX_ATTEMPTS", "2")
    began = time.monotonic()
    line = refused("run", "temporal_breakdown", "s3://bucket/archive")
    assert "Could not connect to the endpoint" in line and "AWS_ENDPOINT_URL" in line
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("odd://x/y", "Unsupported filesystem: 'odd'"),
        ("gs://x/y", "gcsfs"),
        ("s3://Not A Bucket/y", "bucket"),
    ],
)
def test_addresses_that_lead_nowhere(s3, url, says):
    line = refused("sql", url, "FROM traces")
    assert url in line and says in line


@pytest.mark.parametrize("missing", ["upath", "s3fs"])
def test_without_the_packages(missing):
    script = f"import sys; sys.modules[{missing!r}] = None\nfrom hta_sql.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "sql", "s3://bucket/a", "FROM traces"],
        capture_output=True,
        text=True,
        cwd=Path(hta_sql.__file__).parents[1],
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: s3://bucket/a: ") and done.stderr.count("\n") == 1
    assert "s3fs" in done.stderr or "pip install 'hta-sql[s3]'" in done.stderr


def test_what_is_no_trace_stops_no_other(bucket, fs, trace):
    fs.put_file(str(trace), f"{bucket}/t/rank_0.json.gz")
    fs.pipe_file(f"{bucket}/t/rank_1.json", b'{"traceEvents": {{{')
    fs.pipe_file(f"{bucket}/t/config.json", b'{"lr": 1}')
    fs.pipe_file(f"{bucket}/t/rank_2.json", b"")
    said = []
    summary = hta_sql.ingest(f"{bucket}/t", f"{bucket}/a", workers=1, report=said.append)
    assert {outcome.path.name: outcome.status for outcome in summary.traces} == {
        "rank_0.json.gz": "ingested",
        "rank_1.json": "failed",
        "rank_2.json": "failed",
    }
    assert said == ['skipped config.json: not a Kineto trace: no "traceEvents" (found "lr")']


def test_an_object_that_goes_while_it_is_looked_for(bucket, fs, trace, monkeypatch):
    for rank in (0, 1):
        fs.put_file(str(trace), f"{bucket}/t/rank_{rank}.json.gz")
    plain = pool.run_tasks

    def late(*args):
        fs.rm_file(f"{bucket}/t/rank_1.json.gz")
        return plain(*args)

    monkeypatch.setattr(pool, "run_tasks", late)
    summary = hta_sql.ingest(
        f"{bucket}/t",
        f"{bucket}/a",
        job="j",
        workers=1,
        ranks={0: f"{bucket}/t/rank_0.json.gz", 1: f"{bucket}/t/rank_1.json.gz"},
    )
    assert [outcome.status for outcome in summary.traces] == ["ingested", "failed"]
