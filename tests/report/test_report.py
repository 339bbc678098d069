"""What a report says, against the plan of the job, its traces, and its own SQL and commands."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.report import sections, write_report
from hta_sql.report.subject import Subject
from hta_sql.show.output import humane


class Page(HTMLParser):
    """A report taken apart: titles, facts, and figures with their table, data, SQL and command."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.titles: list[str] = []
        self.facts: dict[str, tuple[str, str]] = {}  # value and word of each
        self.paragraphs: list[str] = []
        self.figures: list[dict] = []
        self._texts: list[str] = []
        self._inside: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "figure":
            self.figures.append({"section": self.titles[-1], "heads": [], "rows": [], "pre": []})
            self._inside.append(tag)
        elif tag == "tr" and self._inside:
            self.figures[-1]["rows"].append([])
        elif tag == "td":
            self._exact = given.get("title")
        elif tag == "small" and self._texts:
            self._value = "".join(self._texts)
        if tag in ("h2", "dt", "dd", "p", "small", "figcaption", "th", "td", "pre", "script"):
            self._texts = []

    def handle_data(self, data):
        self._texts.append(data)

    def handle_endtag(self, tag):
        text = "".join(self._texts)
        if tag == "h2":
            self.titles.append(text)
        elif tag == "dt":
            self._name = text
        elif tag == "dd":
            self.facts.setdefault(self._name, (self._value, text))
        elif tag == "p":
            self.paragraphs.append(text)
        elif tag == "figure":
            self._inside.pop()
        elif self._inside and tag == "figcaption":
            self.figures[-1]["caption"] = text
        elif self._inside and tag == "th":
            self.figures[-1]["heads"].append(text)
        elif self._inside and tag == "td":
            self.figures[-1]["rows"][-1].append((text, self._exact))
        elif self._inside and tag == "pre":
            self.figures[-1]["pre"].append(text)
        elif self._inside and tag == "script":
            self.figures[-1]["drawn"] = json.loads(text)

    def figure(self, caption: str) -> dict:
        [found] = [figure for figure in self.figures if figure["caption"].startswith(caption)]
        return found


@pytest.fixture(scope="module")
def page(reports) -> Page:
    return Page(reports["four"])


@pytest.fixture(scope="module")
def two(reports) -> Page:
    return Page(reports["two"])


@pytest.fixture(scope="module")
def truth(folder) -> dict:
    return json.loads((folder / "before" / "truth.json").read_text())


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


# Against the plan.


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
            "from first to last activity",
        )
    hidden = total("overlap_ns")
    assert page.facts["overlap"][0] == percent(hidden, total("communication_ns"))


def test_counts_and_steps(page, truth):
    assert page.facts["ranks"][0] == "4"
    assert page.facts["events"][0] == f"{sum(r['event_count'] for r in truth['ranks']):,}"
    steps = [step["dur_ns"] / 1e6 for rank in truth["ranks"] for step in rank["steps"]]
    value, word = page.facts["step"]
    assert value.endswith(" ms") and float(value[:-3]) == pytest.approx(
        sum(steps) / len(steps), rel=0.005
    )
    assert word == "mean of 2 steps on 4 ranks, on the host"
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
    assert re.findall(r"Rank (\d+) seems to be a straggler", told) == [str(truth["straggler"])]
    devices = {rank["rank"]: rank["device"] for rank in truth["ranks"]}
    share = {rank: device["compute_ns"] / device["span_ns"] for rank, device in devices.items()}
    most = max(share, key=share.get)
    assert f"Rank {most} computes most, {percent(share[most], 1)} of its span" in told
    least = min(share, key=share.get)
    assert f"rank {least} least, {percent(share[least], 1)}." in told
    # The plan has one long gap a step, that of the loading of data.
    [(name, idle)] = re.findall(
        r"the host had launched nothing, mostly in (\S+): .* (\S+) % of "
        "their time",
        told,
    )
    assert name.startswith("enumerate(DataLoader)")
    of_all = sum(d["idle_ns"] for d in devices.values()) / sum(
        d["span_ns"] for d in devices.values()
    )
    assert 0.5 * of_all < float(idle) / 100 < of_all


def test_the_longest_kernel(page, truth):
    totals: dict[str, int] = {}
    for rank in truth["ranks"]:
        for name, found in (rank["kernels"] | rank["copies"]).items():
            totals[name] = totals.get(name, 0) + found["total_ns"]
    name = max(totals, key=totals.get)
    [told] = [text for text in page.paragraphs if "runs longest of all" in text]
    shown, _, share = told.partition(" runs longest of all kernels and copies: ")
    assert name.startswith(shown) and len(shown) > 10
    assert share == f"{percent(totals[name], sum(totals.values()))} of their summed time."


def test_the_chart_of_devices(page, truth):
    drawn = page.figure("Each device, from")["drawn"]["data"]
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
    assert two.titles[1] == "What changed"
    assert any("flash_fwd_kernel takes 20." in text for text in two.paragraphs)
    assert two.figure("Kernels that take longer")["drawn"]["data"][0]["x"][0] > 0


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
        else [figure for figure in two.figures if figure["section"] == "What changed"]
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
            if "drawn" in figure:
                continue
            heads = figure["heads"]
            head, *shown = figure["rows"]
            assert heads and head == [] and 0 < len(shown) <= len(rows)
            for cells, row in zip(shown, rows, strict=False):
                for (text, exact), name in zip(cells, heads, strict=True):
                    value = row[name]
                    assert text == humane(name, value), (figure["caption"], name)
                    is_number = isinstance(value, int | float) and not isinstance(value, bool)
                    assert exact == (str(value) if is_number else exact)
                    if isinstance(value, str):  # a long one may be cut on the page
                        assert exact == (value if len(value) > 30 else None)
                    elif not isinstance(value, list):
                        assert is_number == (exact is not None)


def test_cut_tables_say_so(page, folder):
    cut = [text for text in page.paragraphs if "rows more" in text]
    figure = page.figure("Operators: time on the host")
    with hta_sql.open(folder / "four") as run:
        count = run.sql(figure["pre"][0]).num_rows
    shown = len(figure["rows"]) - 1
    assert (f"and {count - shown:,} rows more: the command gives all" in cut) == (count > shown)


def test_all_queries_are_there_whole(reports, page):
    """Each query that the SQL of a figure names stands at the end, as its file has it."""
    text = unescape(reports["four"].read_text(encoding="utf-8"))
    asked = {
        name for figure in page.figures for name in re.findall(r"\b(\w+)\(", figure["pre"][0])
    } & set(Catalog.load().newest)
    assert len(asked) > 15
    for name in asked:
        assert f'<details id="sql-{name}">' in text
    [file] = Path(__file__).parents[2].glob("sql/queries/**/temporal_breakdown.v1.sql")
    assert file.read_text() in text


# Odd traces.


def test_a_trace_without_a_gpu(reports):
    page = Page(reports["cpu_only"])
    assert page.facts["ranks"][0] == "1" and page.facts["events"][0] == "3"
    assert "computing" not in page.facts
    assert "No GPU activities are in the traces." in page.paragraphs
    [silent] = [text for text in page.paragraphs if text.startswith("Nothing to show for: ")]
    for title in ("Where the time goes", "Kernels", "Timeline"):
        assert title in silent and title not in page.titles


def test_a_trace_without_events(reports):
    page = Page(reports["eventless"])
    assert page.facts["events"][0] == "0"
    assert page.titles == ["At a glance", "Traces", "SQL of the queries"]


def test_what_was_quarantined(reports):
    page = Page(reports["quarantined"])
    [warning] = [text for text in page.paragraphs if "could not be used" in text]
    assert warning.startswith("2 elements of the traces could not be used, and 1 of 1 files are")
    table = page.figure("What could not be used")
    at = table["heads"].index("count")
    assert sum(int(row[at][1]) for row in table["rows"][1:]) == 2
    files = page.figure("Files")
    row = dict(zip(files["heads"], files["rows"][1], strict=True))
    assert row["quarantined_count"] == ("2", "2") and row["event_count"] == ("7", "7")


def test_nothing_quarantined_is_said(page):
    assert "Everything in the files could be used: nothing was quarantined." in page.paragraphs


# Sections.


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
    assert found.titles[:4] == [
        "At a glance",
        "Where the time goes",
        "Extra <b>",
        "Ranks side by side",
    ]
    assert "of before" in found.paragraphs
    assert "This could not be told: it <did> not work" in found.paragraphs
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
    assert page.figure("Step 0.")


def test_the_second_job_is_compared_with_the_first(in_folder, tmp_path):
    result, files = in_folder("two", "--job", "now", "--job", "before")
    assert (result.exit_code, result.stdout, files) == (0, "", {"report.html"})
    assert re.fullmatch(r"report\.html: [\d.]+ MB; [\d.]+ s\n", result.stderr)
    told = Page(tmp_path / "report.html").paragraphs
    assert any(text.startswith("before, compared with now. ") for text in told)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["two", "--job", "x"], 1, "no job 'x' in the archive; there is before, now"),
        (
            ["two", "--job", "now", "--job", "x"],
            1,
            "no job 'x' in the archive; there is before, now",
        ),
        (
            ["two", "--job", "x", "--job", "now"],
            1,
            "no job 'x' in the archive; there is before, now",
        ),
        (["four", "--step", "7"], 1, "job 'before' has no step 7 with GPU work; it has 0 to 1"),
        (["four", "-o", "none/report.html"], 1, "none/report.html: No such file or directory"),
        (["gone"], 1, "gone: no such folder; `hta-sql ingest TRACES ARCHIVE` makes one"),
        (
            ["two", *["--job", "now"] * 2],
            2,
            "Invalid value for --job: one job, or two to be compared",
        ),
        (
            ["two", *["--job", "now"] * 3],
            2,
            "Invalid value for --job: one job, or two to be compared",
        ),
        (["four", "--step", "-1"], 2, "Invalid value for '--step': -1 is not in the range x>=0."),
        (["four", "-o", "."], 2, "Invalid value for '-o' / '--output': File '.' is a directory."),
        ([], 2, "Missing argument 'ARCHIVE...'."),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(in_folder, words, code, told):
    result, files = in_folder(*words)
    assert (result.exit_code, result.stdout, files) == (code, "", set())
    *usage, line = result.stderr.splitlines()
    assert line.startswith("Error: ") and line.endswith(told)
    assert [text[:6] for text in usage if text] == ([] if code == 1 else ["Usage:", "Try 'c"])


def test_one_of_many_jobs_has_to_be_chosen(in_folder, make_archive):
    spans = [{"job": job, "ph": "X", "event_id": 0, "start_ns": 0, "dur_ns": 1} for job in "abc"]
    result, files = in_folder(str(make_archive("archive", events=spans)))
    assert (result.exit_code, files) == (1, {"archive"})
    assert result.stderr == (
        "Error: the archive has 3 jobs (a, b, c): choose one with --job, or two to compare them\n"
    )


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
    total = len(list(Path(sections.__file__).parent.glob("[a-z]*.py")))
    assert lines[1] == f"0 of {total}: At a glance"
    assert [line.split()[0] for line in lines[1:-1]] == [str(n) for n in range(total)]
    assert lines[-1].startswith("report.html: ")


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


def test_names_with_line_ends_can_be_asked_for(tmp_path):
    write_job(tmp_path / "traces", ranks=1, steps=1, layers=1)
    hta_sql.ingest(tmp_path / "traces", tmp_path / "archive", job="a\nb, c", workers=1)
    with hta_sql.open(tmp_path / "archive") as run:
        answer = Subject.of(run, None, None, None).ask("temporal_breakdown")
    result = CliRunner().invoke(cli, [*shlex.split(answer.command)[1:], "--format", "json"])
    assert json.loads(result.stdout) == answer.rows and answer.rows
    broken = CliRunner().invoke(
        cli, ["run", "temporal_breakdown", str(tmp_path / "archive"), "--only-jobs", "a\nb"]
    )
    assert broken.exit_code == 2 and "double quotes" in broken.stderr
