"""Warnings about the traces stand before any conclusion, and take little room."""

import pytest
from browser import visited
from report.conftest import HAND_WRITTEN

import hta_sql
from hta_sql.report.parts import Facts, Text, Warnings
from hta_sql.report.sections import comparison
from hta_sql.report.subject import Subject

pytestmark = pytest.mark.queries


def test_of_two_jobs_both_warn_before_the_first_conclusion(tmp_path):
    for job in ("before", "now"):
        (tmp_path / job).mkdir()
        (tmp_path / job / "rank_0.json").write_text(HAND_WRITTEN["quarantined"])
    hta_sql.ingest([tmp_path / "before", tmp_path / "now"], tmp_path / "archive", workers=1)
    with hta_sql.open(tmp_path / "archive") as run:
        parts = list(comparison.parts(Subject.of(run, "now", "before", None)))
    facts, base, test, first = parts[:4]
    assert isinstance(facts, Facts) and isinstance(first, Text)
    for said, name in ((base, "Base, before"), (test, "Test, now")):
        assert isinstance(said, Warnings)
        damaged, *others = said.lines
        assert damaged.startswith(f"{name}: The trace's file is damaged (truncated: ")
        assert others and all(line.startswith(f"{name}: ") for line in others)


def test_all_but_the_first_are_folded(chromium, reports):
    with visited(chromium, reports["quarantined"]) as visit:
        warning = visit.page.locator("#findings .warning")
        first, *others = warning.locator("p").all()
        assert "is damaged" in first.inner_text() and others
        assert not any(line.is_visible() for line in others)
        more = warning.locator("summary")
        s = "s" * (len(others) > 1)
        assert more.inner_text() == f"{len(others)} more warning{s} about these traces"
        more.click()
        assert all(line.is_visible() for line in others)
