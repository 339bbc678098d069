"""Diagnoses as Markdown and HTML, and at the top of a report."""

import re
from html.parser import HTMLParser
from pathlib import Path

import browser
import pytest
from doctor.made import diagnosis, finding, minor, note, split

import hta_sql
from hta_sql.catalogue.root import sql_root
from hta_sql.diagnosis.html import fragment, page
from hta_sql.diagnosis.markdown import markdown
from hta_sql.report import write_report
from hta_sql.report.sections.findings import SECTIONS
from hta_sql.report.write import section_modules

# Rules without figures in a report.
UNDRAWN = {"profiler_overhead"}
ODD = '</script><img src=x onerror="hacked=1"> & `*_|#\''
STRANGE = diagnosis(
    finding(title=ODD, evidence=ODD, advice=ODD, see=f"hta-sql run {ODD}"),
    minor(),
    notes=(note(text=ODD), note(severity="warning", check="unlinked_kernels", text="Careful.")),
    job=ODD,
    device_name=ODD,
)


class Reader(HTMLParser):
    """The tags and the text of a document."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def test_markdown():
    text = markdown([diagnosis(finding(), minor(), notes=(note(), note(rank=1)), rank_count=2)])
    assert text.startswith(
        "## run\n\n**A step could take 20.0 % less time (2.00 ms): on rank 0, the GPU waits for "
        "the data loader. In a step,"
    )
    assert "| Mean step of rank 0, which bounds the job: 10.0 ms | time | share |\n" in text
    assert "| idle | 3.00 ms | 30.0 % |\n" in text and "exposed copies" not in text
    assert (
        "1. **The GPU waits for the data loader** (high, 2.00 ms per step (20.0 %), rank 0)\n"
        in text
    )
    assert "\n   `hta-sql run idle_reasons archive --top-k 20`\n" in text
    assert "2. **aten::item makes the host wait for the GPU** (info, 20.0 µs per step" in text
    assert "- info: Rank 0 and 1 more rank: The trace has no Python functions.\n" in text


def test_markdown_has_no_formats_but_its_own():
    text = markdown([STRANGE])
    assert "\\<img src=x" in text and "\\`\\*\\_\\|\\#'" in text
    assert not re.search(r"(?<!\\)<img", text.replace(f"`hta-sql run {ODD}`", ""))


def test_several_jobs_are_a_table():
    text = markdown([diagnosis(job="a"), diagnosis(finding(title="Big | fault"), job="b")])
    assert text.splitlines()[:4] == [
        "| job | top_finding | gain | findings | step | busy |",
        "| --- | --- | --- | --- | --- | --- |",
        "| b | Big \\| fault | 20.0 % | 1 | 10.0 ms | 70.0 % |",
        "| a | - | - | 0 | 10.0 ms | 70.0 % |",
    ]
    found = Reader(page([diagnosis(job="a"), STRANGE]))
    assert found.tags.count("tr") == 3 and found.tags.count("h2") == 2


@pytest.mark.parametrize("make", [page, fragment, markdown])
def test_no_jobs(make):
    assert "The archive has no traces." in make([])


def test_html_shows_names_as_they_are():
    found = Reader(page([STRANGE]))
    assert not {"img", "script"} & set(found.tags)
    assert found.text.count(ODD) >= 6
    for said in ("high", "2.00 ms per step (20.0 %)", "method: exposed idle", "Careful."):
        assert said in found.text
    assert found.text.index("Careful.") < found.text.index("Quality") + 60
    assert "style" not in Reader(fragment([STRANGE])).tags


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_in_a_browser(chromium, tmp_path, theme, width):
    """It asks for nothing, fits the window, can be read, and the bar has the sizes of its parts."""
    file = tmp_path / "doctor.html"
    file.write_text(page([STRANGE]), encoding="utf-8")
    with browser.visited(chromium, file, width, theme) as visit:
        assert visit.said == [] and visit.asked == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        sizes = visit.page.evaluate(
            "[...document.querySelectorAll('.split div span')]"
            ".map((part) => part.getBoundingClientRect().width)"
        )
        assert [round(10 * size / sum(sizes)) for size in sizes] == [6, 1, 3]
        assert visit.page.evaluate("typeof hacked") == "undefined"
        for ground in ("--ground", "--raised"):
            assert browser.contrast(visit.colour(ground), visit.colour("--ink")) >= 7


def test_every_rule_has_a_section_of_the_report():
    rules = {path.stem for path in (sql_root() / "findings").glob("*.sql")}
    assert rules <= SECTIONS.keys() | UNDRAWN
    names = {module.__name__.rpartition(".")[2] for module in section_modules()}
    assert set(SECTIONS.values()) <= names


@pytest.mark.queries
def test_findings_lead_the_report(folder, tmp_path):
    out = tmp_path / "report.html"
    with hta_sql.open(folder / "one") as run:
        write_report(run, out)
        findings = run.query("findings").to_pylist()
    text = out.read_text(encoding="utf-8")
    first = text[text.index('<section id="') : text.index("</section>")]
    found = Reader(first)
    assert first.startswith(
        '<section id="findings"><details open><summary><h2>What to fix first</h2></summary>'
        "<p>A step could take"
    )
    for row in findings:
        assert row["title"] in found.text and row["evidence"] in found.text
    assert '<a href="#idle">Idle time</a>' in first and 'id="idle"' in text
    assert f"hta-sql run findings {folder / 'one'} --only-jobs slow" in found.text


def test_thin_parts_are_drawn(tmp_path: Path):
    text = fragment([diagnosis(**split(compute_ns=1, idle_ns=10**9))])
    assert "flex:1 0 0" in text and "compute 1 ns &lt;0.1 %" in text
