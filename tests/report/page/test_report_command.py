"""Sections of a report, and the command."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from report.page.pages import Page

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.report import sections, write_report
from hta_sql.report.subject import Subject

EXTRA = """
from hta_sql.errors import HtaSqlError
from hta_sql.report.parts import Table, Text

TITLE = "Extra <b>"
PLACE = 25


def parts(subject):
    yield Text([f"of {subject.job}"])
    yield Table("Own", subject.sql("SELECT 1 AS a_ns, {job} AS job"))
    raise HtaSqlError("it <did> not work")
"""


@pytest.mark.queries
def test_a_file_is_a_section(folder, tmp_path, monkeypatch):
    """In its place; what keeps it from saying more is told, and the others say all."""
    (tmp_path / "extra_section.py").write_text(EXTRA)
    monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "hta_sql.report.sections.extra_section", raising=False)
    out = tmp_path / "report.html"
    result = CliRunner().invoke(cli, ["report", str(folder / "four"), "-o", str(out)])
    sys.modules.pop("hta_sql.report.sections.extra_section")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == "Warning: Extra <b>: it <did> not work"
    found = Page(out)
    assert found.titles[:7] == [
        "What to fix first",
        "One step",
        "Critical path and what-if",
        "At a glance",
        "Where the time goes",
        "Extra <b>",
        "Ranks side by side",
    ]
    assert "of before" in found.paragraphs
    assert "This section is incomplete: it <did> not work" in found.paragraphs
    assert found.figure("Own")["rows"][1] == [("1 ns", "1")]
    assert "<did>" not in out.read_text(encoding="utf-8")
    assert found.titles[-1] == "SQL of the queries" and "Traces" in found.titles


# The command.


@pytest.fixture
def in_folder(folder, monkeypatch, tmp_path):
    """Run `hta-sql report` in an empty folder: the result, and the files then there."""
    monkeypatch.chdir(tmp_path)

    def report(*words):
        words = [str(folder / word) if word in ("four", "two", "gone") else word for word in words]
        result = CliRunner().invoke(cli, ["report", *words])
        return result, {file.name for file in tmp_path.iterdir()}

    return report


def test_a_file_of_ones_own(in_folder, tmp_path):
    result, files = in_folder("two", "-o", "mine.html", "--job", "before", "--step", "0")
    assert (result.exit_code, files) == (0, {"mine.html"})
    page = Page(tmp_path / "mine.html")
    assert "What changed" not in page.titles
    [picture] = [figure["picture"] for figure in page.figures if "picture" in figure]
    assert picture["windows"][0]["step"] == 0


@pytest.mark.queries
def test_the_second_job_is_compared_with_the_first(in_folder, tmp_path):
    result, files = in_folder("two", "--job", "now", "--job", "before")
    assert (result.exit_code, result.stdout, files) == (0, "", {"report.html"})
    assert re.fullmatch(r"report\.html: [\d.]+ MB; [\d.]+ s\n", result.stderr)
    told = Page(tmp_path / "report.html").facts
    assert (told["base (before)"][0], told["test (now)"][0]) == ("now", "before")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["two", "--job", "x"], 2, "the archive has no job 'x'; its jobs are 'before', 'now'"),
        (
            ["two", "--job", "now", "--job", "x"],
            2,
            "the archive has no job 'x'; its jobs are 'before', 'now'",
        ),
        (
            ["two", "--job", "x", "--job", "now"],
            2,
            "the archive has no job 'x'; its jobs are 'before', 'now'",
        ),
        (["four", "--step", "7"], 1, "job 'before' has no step 7; it has steps 0 to 1"),
        (["four", "-o", "none/report.html"], 1, "none/report.html: No such file or directory"),
        (["gone"], 1, "gone: no such folder; `hta-sql ingest TRACES ARCHIVE` makes one"),
        (
            ["two", *["--job", "now"] * 2],
            2,
            "Invalid value for --job: give one job, or two different jobs to compare",
        ),
        (
            ["two", *["--job", "now"] * 3],
            2,
            "Invalid value for --job: give one job, or two different jobs to compare",
        ),
        (["four", "--step", "-1"], 2, "Invalid value for '--step': -1 is not in the range x>=0."),
        (["four", "-o", "."], 1, ".: is a folder; give a file name"),
        ([], 2, "Missing argument 'ARCHIVE...'."),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(in_folder, words, code, told):
    result, files = in_folder(*words)
    assert (result.exit_code, result.stdout, files) == (code, "", set())
    *usage, line = result.stderr.splitlines()
    assert line.startswith("Error: ") and line.endswith(told)
    assert [text[:6] for text in usage if text] == (
        [] if code == 1 or "no job" in told else ["Usage:", "Try 'c"]
    )


@pytest.mark.queries
def test_one_of_many_jobs_has_to_be_chosen(in_folder, make_archive):
    spans = [{"job": job, "ph": "X", "event_id": 0, "start_ns": 0, "dur_ns": 1} for job in "abc"]
    result, files = in_folder(str(make_archive("archive", events=spans)))
    assert (result.exit_code, files) == (1, {"archive"})
    assert result.stderr == (
        "Error: the archive has 3 jobs (a, b, c); choose one with --job, or two to compare them\n"
    )


@pytest.mark.queries
def test_progress_on_terminals_alone(folder, tmp_path):
    """A line about each section, in place of the one before; in a pipe there is none."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "hta_sql.cli", "report", folder / "four"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 4096):
                said += part
        except OSError:  # all is read
            pass
        os.close(ours)
        assert process.stdout.read() == b""
    lines = said.decode().split("\r\x1b[K")
    files = Path(sections.__file__).parent.glob("[a-z]*.py")
    total = sum("OF_TWO" not in file.read_text() for file in files)
    assert lines[1] == f"0 of {total}: What to fix first"
    assert [line.split()[0] for line in lines[1:-1]] == [str(n) for n in range(total)]
    assert lines[-1].startswith("report.html: ")


@pytest.mark.queries
def test_a_report_appears_whole_and_never_in_an_archive(folder, tmp_path):
    kept = tmp_path / "kept.html"
    kept.write_text("before")
    with hta_sql.open(folder / "four") as run:
        with pytest.raises(hta_sql.HtaSqlError, match="no step 99"):
            write_report(run, kept, step=99)
        assert kept.read_text() == "before" and list(tmp_path.iterdir()) == [kept]
        inside = folder / "four" / "traces.parquet"
        size = inside.stat().st_size
        with pytest.raises(hta_sql.HtaSqlError, match="is inside the archive"):
            write_report(run, inside)
        assert inside.stat().st_size == size


@pytest.mark.queries
def test_a_step_without_a_gpu_can_be_asked_for(folder, reports, tmp_path):
    with hta_sql.open((folder / reports["cpu_only"].name).with_suffix("")) as run:
        assert write_report(run, tmp_path / "report.html", step=1) == []
        with pytest.raises(hta_sql.HtaSqlError, match="no step 7; it has only step 1"):
            write_report(run, tmp_path / "other.html", step=7)


@pytest.mark.queries
def test_names_with_line_ends_can_be_asked_for(tmp_path):
    write_job(tmp_path / "traces", ranks=1, steps=1, layers=1)
    hta_sql.ingest(tmp_path / "traces", tmp_path / "archive", job="a\nb, c", workers=1)
    with hta_sql.open(tmp_path / "archive") as run:
        answer = Subject.of(run, "a\nb, c", None, None).ask("temporal_breakdown")
    result = CliRunner().invoke(cli, [*shlex.split(answer.command)[1:], "--format", "json"])
    assert json.loads(result.stdout) == answer.rows and answer.rows
    broken = CliRunner().invoke(
        cli, ["run", "temporal_breakdown", str(tmp_path / "archive"), "--only-jobs", "a\nb"]
    )
    assert broken.exit_code == 2 and "double quotes" in broken.stderr
