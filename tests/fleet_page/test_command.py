"""`hta-sql report --fleet`."""

import re
import shutil

import pytest
from click.testing import CliRunner
from fleet_page.conftest import ODD

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.errors import HtaSqlError
from hta_sql.fleet_page import report_of, write_fleet_page


def run(*words):
    return CliRunner().invoke(cli, ["report", "--fleet", *map(str, words)])


def lead(page) -> str:
    told = re.search(r'<p class="lead">(.*?)</p>', page.read_text(encoding="utf-8"))[1]
    return re.sub("<.*?>", "", told)


def test_the_page_in_a_folder(few, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(few)
    assert (result.exit_code, result.stdout) == (0, "")
    warning, done = result.stderr.splitlines()
    assert warning == (
        "Warning: 1 of 4 jobs has no stored results; `hta-sql materialize ARCHIVE` stores them"
    )
    assert re.fullmatch(r"fleet/index\.html: [\d.]+ kB; [\d.]+ s", done)
    assert [path.name for path in (tmp_path / "fleet").iterdir()] == ["index.html"]
    text = (tmp_path / "fleet" / "index.html").read_text(encoding="utf-8")
    assert f"-o {tmp_path / 'fleet'} --job" in text  # it runs from any folder
    assert (
        "<script>hacked" not in text
        and "<img" not in text
        and "http" not in text.replace("http://www.w3.org/2000/svg", "")
    )


def test_an_archive_with_neither_results_nor_tags(tiny_archive, tmp_path):
    with hta_sql.open(tiny_archive) as archive:
        jobs = write_fleet_page(archive, tmp_path)
    assert (jobs.names, jobs.without_results) == (["job"], 1)
    assert lead(tmp_path / "index.html") == (
        "No job has stored results, so it is not known where GPU time is lost."
    )


@pytest.mark.queries
def test_a_job_gets_a_report_and_a_link(tmp_path):
    job = "a/b 100%"
    write_job(tmp_path / "traces", ranks=1, steps=1, layers=1)
    archive = tmp_path / "archive"
    hta_sql.ingest(tmp_path / "traces", archive, job=job, workers=1)
    hta_sql.materialize(archive)
    with hta_sql.open(archive) as opened:
        [waits] = opened.low_utilisation_jobs(below=2).to_pylist()
    out = tmp_path / "out"
    result = run(archive, "-o", out, "--job", job)
    assert result.exit_code == 0, result.output
    assert len(result.stderr.splitlines()) == 2
    page = (out / "index.html").read_text(encoding="utf-8")
    assert '"reports":{"0":"job%3Da%252Fb%20100%2525/report.html"}' in page
    assert (out / "job=a%2Fb 100%25" / "report.html").is_file()
    assert waits["reason"] in ("host_wait", "kernel_wait", "launching", "queued", "memory")
    assert "Begin with job a/b 100%: " in lead(out / "index.html")
    shutil.rmtree(out / "job=a%2Fb 100%25")
    assert run(archive, "-o", out).exit_code == 0
    assert '"reports":{}' in (out / "index.html").read_text(encoding="utf-8")


@pytest.mark.queries
def test_reports_of_all_jobs_but_for_one_that_is_damaged(tmp_path):
    for seed, job in enumerate(("bad", "good")):
        write_job(tmp_path / "traces" / job, ranks=1, steps=1, layers=1, seed=seed)
    archive, out = tmp_path / "archive", tmp_path / "out"
    hta_sql.ingest(tmp_path / "traces", archive, workers=1)
    for file in archive.glob("gpu_activities/job=bad/*/*.parquet"):
        file.write_bytes(b"no Parquet")
    result = run(archive, "-o", out, "--jobs")
    assert (result.exit_code, result.stdout) == (1, "")
    good, warning, page, bad = result.stderr.splitlines()
    assert good.startswith(f"{out}/job=good/report.html: ")
    assert warning.startswith("Warning: 2 of 2 jobs have no stored results")
    assert page.startswith(f"{out}/index.html: ")
    assert re.match("bad: failed: damaged archive: .* of job 'bad'", bad)
    text = (out / "index.html").read_text(encoding="utf-8")
    assert '"reports":{"1":"job%3Dgood/report.html"}' in text


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--jobs", "--job", "llama-1"], 2, "--jobs writes the reports of all jobs; leave out "),
        (["--step", "3"], 2, "--step is for the report on a job; leave it out with --fleet"),
        (["--job", "x"], 2, "the archive has no job 'x'; its jobs are "),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(few, tmp_path, words, code, told):
    result = run(few, "-o", tmp_path / "out", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert told in result.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(few, tmp_path):
    (tmp_path / "file").touch()
    told = f"Error: {tmp_path / 'file'}: is a file; --fleet writes a folder\n"
    for words in ([], ["--job", "llama-1"]):
        result = run(few, "-o", tmp_path / "file", *words)
        assert (result.exit_code, result.stderr) == (1, told)
    with hta_sql.open(few) as archive, pytest.raises(HtaSqlError, match="is inside the archive"):
        write_fleet_page(archive, few / "page")


def test_reports_of_all_jobs_have_files_of_their_own():
    jobs = ["a", "A", "..", ".", "a/b", "a%2Fb", "index.html", ODD, "job=a"]
    paths = [report_of(job) for job in jobs]
    assert len(set(paths)) == len(jobs)
    assert all(path.count("/") == 1 and ".." != path.split("/")[0] for path in paths)


@pytest.mark.s3
def test_an_archive_in_object_storage(few, tmp_path, fs, bucket):
    fs.put(str(few), f"{bucket}/jobs", recursive=True)
    result = run(f"{bucket}/jobs", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    page = tmp_path / "out" / "index.html"
    assert lead(page).startswith("Begin with job llama-1: ")
    assert f"hta-sql materialize {bucket}/jobs" in page.read_text(encoding="utf-8")
