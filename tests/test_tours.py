"""The notebooks of docs/ run in a real Jupyter kernel, and show what their text says."""

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent / "docs"

pytestmark = pytest.mark.notebook


def run_tour(name: str, folder: Path) -> dict[str, dict[str, Any]]:
    """What the last line of each code cell shows, by its type; cells by their source."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    notebook = nbformat.read(DOCS / name, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells), "commit it without its outputs"
    assert len(notebook.cells) <= 25
    place = {"metadata": {"path": str(folder)}}
    client.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert kinds == {"execute_result", "display_data"}, "no warnings and nothing printed"
    return {cell.source: cell.outputs[-1].data for cell in cells if cell.outputs}


def of(found: dict[str, dict[str, Any]], word: str) -> str:
    """The HTML of the first cell with a word."""
    return next(data["text/html"] for source, data in found.items() if word in source)


def rows(html: str) -> list[list[str]]:
    body = html.partition("<tbody>")[2]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>")[:-1]]


def figures(found: dict[str, dict[str, Any]]) -> list[Any]:
    kind = "application/vnd.plotly.v1+json"
    return [data[kind]["data"] for data in found.values() if kind in data]


def test_training(tmp_path):
    found = run_tour("tour.ipynb", tmp_path)
    times = of(found, "devices.select")
    assert re.search(r">\d+\.\d ms<", times) and re.search(r">\d+\.\d %<", times)
    assert rows(of(found, "lost_gpu_time"))[0][0] == "3", "the slow rank"
    attention = rows(of(found, "under_operator"))
    assert [row[0] for row in attention] == ["0", "1", "2", "3"]
    assert len({row[1] for row in attention}) == 1, "all ranks launch the same"
    assert "rank 3" in of(found, "hta_sql.doctor")
    assert len(rows(of(found, "what_if"))) == 3
    assert len(figures(found)) == 4 and all(figures(found))
    assert (tmp_path / "report.html").stat().st_size > 1_000_000


def test_inference(tmp_path):
    """The first cell has the durations: 8 layers, 54 steps that decode and 6 that are mixed."""
    found = run_tour("tour-inference.ipynb", tmp_path)
    assert rows(of(found, "tokens_per_s"))[0][:2] == ["decode", "54"]
    assert rows(of(found, "tokens_per_s"))[1][:2] == ["mixed", "6"]
    idle = {row[0]: float(row[-1].removesuffix(" %")) for row in rows(of(found, "busy_frac"))}
    assert idle["decode"] > 50 and idle["mixed"] == 0
    assert rows(of(found, "under_operator")) == [
        ["decode", "432", "3.02 ms"],  # 54 · 8 · 7 µs
        ["mixed", "48", "4.32 ms"],  # 6 · 8 · 90 µs
    ]
    kernels = rows(of(found, "kernel_stats"))
    assert [row[0] for row in kernels] == ["gemm_bf16", "flash_fwd_kernel"]
    assert "the GPU waits for the host" in of(found, "hta_sql.doctor")
    assert rows(of(found, "idle_time_breakdown"))[0][1] == "host_wait"


def test_fleet(tmp_path):
    found = run_tour("tour-fleet.ipynb", tmp_path)
    worst = {row[1]: row[-2] for row in rows(of(found, "low_utilisation_jobs"))}
    assert worst == {"wednesday": "host_wait", "thursday": "host_wait"}
    assert rows(of(found, "fleet_summary"))[0][2] == "4"
    assert "the GPU waits for the data loader" in of(found, "hta_sql.doctor")
    assert "enumerate(DataLoader)" in of(found, "hta_sql.compare(")
    assert all(figures(found)) and (tmp_path / "wednesday.html").stat().st_size > 1_000_000
