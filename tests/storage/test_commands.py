"""Every command that takes an archive or traces takes them in object storage."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job


def run(*args: object, status: int = 0) -> str:
    result = CliRunner().invoke(cli, list(map(str, args)))
    assert result.exit_code == status, result.output
    return result.output


@pytest.fixture(scope="module")
def jobs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("jobs")
    write_job(folder / "before/job", ranks=2, steps=3, layers=1)
    write_job(folder / "after/job", ranks=2, steps=3, layers=1, change="slow_kernel")
    return folder


@pytest.fixture
def archive(jobs, bucket) -> str:
    run("ingest", jobs / "before", f"{bucket}/before", "--workers", 1)
    return f"{bucket}/before"


def test_queries_reports_and_exports(archive, tmp_path):
    assert len(json.loads(run("run", "temporal_breakdown", archive, "--format", "json"))) == 2
    sql = "SELECT rank FROM traces ORDER BY 1"
    found = json.loads(run("sql", archive, sql, "--format", "json"))
    assert found == [{"rank": 0}, {"rank": 1}]
    assert "keep their promises" in run("check", archive)
    run("critical-path", archive, "--step", 2)
    assert len(json.loads(run("run", "critical_path_summary", archive, "--format", "json"))) > 0
    run("report", archive, "-o", tmp_path / "report.html")
    assert archive in (tmp_path / "report.html").read_text()
    run("export", "perfetto", archive, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    run("export", "critical-path", archive, tmp_path / "path.json", "--only-ranks", 0)
    said = run("shell", archive, "-c", "FROM traces", status=1)
    assert "a shell reads only archives on disk; copy it" in said
    with hta_sql.open(archive) as opened:
        assert "job" in opened._repr_html_() and archive in repr(opened)
        assert hta_sql.plot.temporal_breakdown(opened.temporal_breakdown())


def test_jobs_are_compared_wherever_they_are(archive, jobs, bucket, fs, tmp_path):
    run("ingest", jobs / "after", f"{bucket}/after", "--workers", 1)
    hta_sql.ingest(jobs / "before", tmp_path / "before", workers=1)
    hta_sql.ingest(jobs / "after", tmp_path / "after", workers=1)
    for file in (jobs / "after").rglob("*.json.gz"):
        fs.put_file(str(file), f"{bucket}/traces/after/job/{file.name}")
    expected = run("diff", tmp_path / "before", tmp_path / "after", "--format", "json")
    assert json.loads(expected)["step_diff"]
    for base, test in [
        (archive, f"{bucket}/after"),
        (f"{archive}::job", f"{bucket}/after::job"),
        (tmp_path / "before", f"{bucket}/after"),
        (archive, f"{bucket}/traces/after"),
    ]:
        result = CliRunner().invoke(
            cli, ["diff", str(base), str(test), "--format", "json"], catch_exceptions=False
        )
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout) == json.loads(expected)
    run("ingest", jobs / "after", archive, "--job", "later", "--workers", 1)
    with hta_sql.compare(f"{archive}::job", f"{archive}::later") as found:
        assert found.steps == json.loads(expected)["step_diff"]
    said = run("diff", f"{archive}::none", f"{bucket}/after", status=2)
    assert f"{archive} has no job 'none'; its jobs are 'job', 'later'" in said
