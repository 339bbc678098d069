"""Progress in a real Jupyter kernel: one line below a cell, and nothing in a script."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.notebook, pytest.mark.processes]
# Each cell, and what its line says at the end.
CELLS = {
    "from hta_sql.demo import write_job\n"
    "files = write_job('traces', ranks=2, steps=2, layers=1)": None,
    "import hta_sql\ndone = hta_sql.ingest('traces', 'archive')": "ingest: {bytes} of {bytes}",
    "done = hta_sql.ingest('traces', 'archive')  # nothing is new": None,
    "done = hta_sql.ingest('traces', 'archive', force=True, progress=lambda *of: None)": None,
    "done = hta_sql.materialize('archive')": "materialize: 1 of 1 jobs",
    "path = hta_sql.report('archive', 'out.html')": "report: out.html",
    "found = hta_sql.doctor('traces')": "ingest: {bytes} of {bytes}",
}


def test_one_line_below_a_cell(tmp_path, monkeypatch):
    client = pytest.importorskip("nbclient", reason="no nbclient: a notebook test")
    pytest.importorskip("ipykernel", reason="no ipykernel: a notebook test")
    import nbformat

    from hta_sql.show.units import humane

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    place = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(book, timeout=120, kernel_name="python3", resources=place).execute()
    size = humane("bytes", sum(path.stat().st_size for path in tmp_path.glob("traces/rank*")))
    for cell, line in zip(book.cells, CELLS.values(), strict=True):
        shown = [output["data"]["text/plain"] for output in cell.outputs]
        assert shown == ([line.replace("{bytes}", size)] if line else []), cell.source


def test_a_script_is_silent(tmp_path):
    script = "\n".join(CELLS).replace("import hta_sql", "import IPython, hta_sql")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
