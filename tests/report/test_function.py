"""`hta_sql.report` is a function and a package, whatever was imported before."""

import inspect
import subprocess
import sys

import pytest

import hta_sql
from hta_sql.errors import HtaSqlError

ORDERS = [
    "import hta_sql; hta_sql.report",
    "import hta_sql.report.page",
    "from hta_sql.report import write_report",
    "import hta_sql.report.write as write; write.written_sections",
    "from hta_sql import report; report.write_report",
    "from hta_sql.report.function import report as alone",
    "import importlib; importlib.import_module('hta_sql.report.sections')",
]


@pytest.mark.processes
@pytest.mark.parametrize("first", ORDERS)
def test_it_can_be_called_after_any_import(first, tmp_path):
    program = (
        f"{first}\nimport hta_sql\n"
        "try:\n    hta_sql.report('nowhere')\nexcept hta_sql.HtaSqlError as error:\n"
        "    print(error)\n"
        "from hta_sql import report\nfrom hta_sql.report import write_report\n"
        "print(callable(report), hta_sql.report is report)\n"
        "import hta_sql.report.page\nprint(callable(hta_sql.report))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stderr == "" and done.stdout.splitlines()[1:] == ["True True", "True"]
    assert "nowhere" in done.stdout.splitlines()[0]


def test_it_writes_the_file(demo_archive, tmp_path):
    written = hta_sql.report(demo_archive, tmp_path / "one.html", step=1)
    assert written == tmp_path / "one.html"
    assert written.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with hta_sql.open(demo_archive) as run:
        titles = []
        again = hta_sql.report(
            run,
            str(tmp_path / "two.html"),
            progress=lambda title, done, total: titles.append((done, total)),
        )
        assert again.exists() and titles == [(at, len(titles)) for at in range(len(titles))]
        assert run.sql("SELECT 1 AS one").num_rows == 1, "an open archive stays open"


def test_its_errors(demo_archive, tmp_path):
    with pytest.raises(HtaSqlError, match="nosuch"):
        hta_sql.report(demo_archive, tmp_path / "out.html", job="nosuch")
    assert not (tmp_path / "out.html").exists()


def test_its_signature_and_help():
    names = ["archive", "out", "job", "base", "step", "progress"]
    assert list(inspect.signature(hta_sql.report).parameters) == names
    assert inspect.getdoc(hta_sql.report).startswith("Write a report on a job")
