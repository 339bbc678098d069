"""All charts of a made-up job on one page, in a real browser."""

import shutil

import pytest
from browser import visited
from click.testing import CliRunner

import hta_sql
from hta_sql import plot
from hta_sql.cli import cli
from hta_sql.demo import write_job

OTHER_QUERIES = {
    "kernel_pies": "kernel_stats",
    "roofline": "op_flops",
    "diff": "kernel_diff",
    "flame_graph": "folded_stacks",
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """A figure of each chart, of two ranks that have become slower since the job before."""
    folder = tmp_path_factory.mktemp("figures")
    for job, change in (("a", None), ("b", "slow_kernel")):
        write_job(folder / job, ranks=2, steps=2, layers=1, change=change)
    hta_sql.ingest([folder / "a", folder / "b"], folder / "archive", workers=1)
    assert CliRunner().invoke(cli, ["critical-path", str(folder / "archive")]).exit_code == 0
    with hta_sql.open(folder / "archive") as run:
        tables = {
            chart: run.query(
                OTHER_QUERIES.get(chart, chart), **({} if chart == "diff" else {"only_jobs": ["b"]})
            )
            for chart in plot.__all__
        }
    yield {chart: getattr(plot, chart)(tables[chart]) for chart in plot.__all__}
    shutil.rmtree(folder)


def marks_of(figure) -> int:
    """How many marks a figure has to have at least, by its data."""
    count = 0
    for trace in figure.data:
        if trace.type == "bar":
            count += len(trace.x)
        elif trace.type == "pie":
            count += len(trace.labels)
        elif trace.type == "scatter" and trace.mode == "markers":
            count += len(trace.x)
        else:
            count += 1
    return count


@pytest.fixture(scope="module")
def page(figures, chromium, tmp_path_factory):
    """The page with all of them, and their places on it."""
    parts = [
        figure.to_html(full_html=False, include_plotlyjs=place == 0, div_id=chart)
        for place, (chart, figure) in enumerate(figures.items())
    ]
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{''.join(parts)}")
    drawn = f"document.querySelectorAll('.js-plotly-plot .main-svg').length >= {len(parts)}"
    with visited(chromium, file, until=drawn) as visit:
        visit.page.wait_for_timeout(500)
        yield visit


def test_it_is_quiet(page):
    assert page.said == [] and page.asked == []


def test_every_figure_has_its_marks(page, figures):
    for (chart, figure), marks in zip(figures.items(), page.marks(), strict=True):
        assert marks >= marks_of(figure) >= 1, chart


def test_texts_can_be_read(page):
    """None over another, none cut off at the figure's edge, none below 9 px."""
    names = list(plot.__all__)
    assert [(names[chart], *pair) for chart, *pair in page.overlaps()] == []
    shown = dict(zip(names, page.texts(), strict=True))
    assert all(shown.values())
    assert {
        chart: text["text"]
        for chart, texts in shown.items()
        for text in texts
        if text["size"] < 8.9 or not text["inside"]
    } == {}


def test_titles_are_shown(page, figures):
    for (chart, figure), texts in zip(figures.items(), page.texts(), strict=True):
        assert figure.layout.title.text in {text["text"] for text in texts}, chart
