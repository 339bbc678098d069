"""What works where the extra `viz` is not installed, and what is said of the rest."""

import os
import subprocess
import sys

import pytest

ADVICE = "pip install 'hta-sql[viz]'"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run Python in a folder of its own, where plotly cannot be imported."""
    folder = tmp_path_factory.mktemp("bare")
    for name in ("plotly", "nbformat"):
        (folder / "site" / name).mkdir(parents=True)
        (folder / "site" / name / "__init__.py").write_text(
            f'raise ImportError("No module named {name!r}")'
        )

    def run(*words) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-W", "error", *map(str, words)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"PYTHONPATH": str(folder / "site"), "COLUMNS": "100"},
        )

    run.folder = folder
    assert "No module named 'plotly'" in run("-c", "import plotly").stderr
    return run


def test_queries_work(run, demo_archive):
    program = (
        "import hta_sql\n"
        f"with hta_sql.open({str(demo_archive)!r}) as run:\n"
        "    print(run.temporal_breakdown().num_rows, run._repr_html_()[:6])"
    )
    result = run("-c", program)
    assert (result.stdout, result.stderr, result.returncode) == ("2 <table\n", "", 0)


def test_commands_work(run, demo_archive):
    shown = run("-m", "hta_sql.cli", "--help")
    assert shown.returncode == 0 and "  report " in shown.stdout
    assert run("-m", "hta_sql.cli", "report", "--help").returncode == 0
    result = run("-m", "hta_sql.cli", "run", "temporal_breakdown", demo_archive)
    assert result.returncode == 0 and result.stdout.startswith("job ")


@pytest.mark.parametrize(
    "program", ["import hta_sql; hta_sql.plot", "from hta_sql import plot", "import hta_sql.plot"]
)
def test_charts_say_what_they_need(run, program):
    result = run(
        "-c",
        f"from hta_sql.errors import HtaSqlError\ntry:\n    {program}\n"
        "except HtaSqlError as error:\n    print(error)",
    )
    assert result.stdout.count("\n") == 1 and ADVICE in result.stdout, result.stderr
    assert result.stderr == ""


def test_the_report_says_what_it_needs(run, demo_archive):
    result = run("-m", "hta_sql.cli", "report", demo_archive)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("Error: ")
    assert ADVICE in result.stderr
    assert not list(run.folder.glob("*.html"))
