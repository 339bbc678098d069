"""What a notebook shows, in a real Jupyter kernel."""

import re
import subprocess
import sys
from html import unescape

import pytest

import hta_sql
from hta_sql.demo import write_job

pytestmark = pytest.mark.notebook


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Run cells one after the other in a new kernel: of each what it shows, by its type."""
    nbclient = pytest.importorskip("nbclient", reason="no nbclient: a notebook test")
    pytest.importorskip("ipykernel", reason="no ipykernel: a notebook test")
    import nbformat

    def cells(*sources: str) -> list[dict[str, str]]:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
        nbclient.NotebookClient(
            book,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}},
        ).execute()
        shown = []
        for cell in book.cells:
            found: dict[str, str] = {}
            for output in cell.outputs:
                found |= output.get("data", {"stream": output.get("text", "")})
            shown.append(found)
        return shown

    return cells


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """A job, and it once more with a slower kernel."""
    folder = tmp_path_factory.mktemp("jobs")
    write_job(folder / "base", ranks=2, steps=3, layers=1)
    write_job(folder / "test", ranks=2, steps=3, layers=1, change="slow_kernel")
    for job, name in (("base", "base"), ("test", "te<b>st")):
        hta_sql.ingest(folder / job, folder / f"{job}.archive", job=name, workers=1)
    return folder


@pytest.fixture(scope="module")
def shown(cells, archives):
    """One notebook with all of it."""
    names = ("first", "units", "many", "one", "odd", "long", "archive", "comparison", "figure")
    names += ("late",)
    return dict(
        zip(
            names,
            cells(
                "import hta_sql\n"
                f"run = hta_sql.open({str(archives / 'base.archive')!r})\n"
                "run.temporal_breakdown()",
                'run.sql("SELECT 0.371 AS busy_frac, 1240000 AS busy_ns, 1500000000 AS bytes, '
                "NULL::BIGINT AS wait_ns, 'gemm' AS name\")",
                "run.sql('SELECT range AS n_count FROM range(12345)')",
                "run.sql('SELECT 1 AS a')",
                'run.sql("SELECT \'<script>alert(1)</script> & é\' AS \\"<b>\\"")',
                "run.sql(\"SELECT 'gemm<' || repeat('x', 90) || unnest(['1', '2']) AS name\")",
                "run",
                f"hta_sql.compare({str(archives / 'base.archive')!r}, "
                f"{str(archives / 'test.archive')!r})",
                "from hta_sql import plot\nplot.temporal_breakdown(run.temporal_breakdown())",
                "import pyarrow as pa\npa.table({'dur_ns': [2_000_000]})",
            ),
            strict=True,
        )
    )


def test_results_are_tables(shown):
    html = shown["first"]["text/html"]
    assert html.startswith("<table>") and html.endswith("<p>2 rows</p>")
    assert html.count("<tr>") == 3 and 'title="idle_frac">idle %<' in html


def test_units_are_for_people(shown):
    html = shown["units"]["text/html"]
    for text in ("37.1 %", "1.24 ms", "1.50 GB", ">-<", ">gemm<"):
        assert text in html
    assert 'title="1240000"' in html and 'title="0.371"' in html
    assert html.count("text-align:left") == 2  # the name and its head
    assert html.count("white-space:nowrap") == 4, "a number stays beside its unit"


def test_many_rows_are_cut(shown):
    html = shown["many"]["text/html"]
    assert html.count("<tr>") == 51 and html.endswith("<p>the first 50 of 12,345 rows</p>")
    assert shown["one"]["text/html"].endswith("<p>1 row</p>")


def test_names_are_escaped(shown):
    html = shown["odd"]["text/html"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; é" in html and "&lt;b&gt;" in html
    assert "<script" not in html and "<b>" not in html


def test_long_names_are_cut_where_they_differ(shown):
    html = shown["long"]["text/html"]
    for last in "12":
        cell = re.search(f">([^<>]*x{last})</td>", html)[1]
        assert len(unescape(cell)) <= 60 and "…" in cell
        assert f'title="gemm&lt;{"x" * 90}{last}"' in html


def test_an_archive(shown):
    html = shown["archive"]["text/html"]
    assert ">base<" in html and ">rank_<wbr>count<" in html and "NVIDIA H100" in html
    assert html.endswith("<p>1 row</p>")
    assert shown["archive"]["text/plain"].startswith("hta_sql.open('")


def test_a_comparison(shown):
    html = shown["comparison"]["text/html"]
    opening, _, text = html.partition(">")
    assert opening == '<pre style="font-family: monospace"', "columns line up in every notebook"
    assert text.startswith("base  base: 2 ranks, 3 steps, NVIDIA H100")
    assert "test  te&lt;b&gt;st: 2 ranks, 3 steps" in html and "\nkernel_sum " in html
    assert "<" not in text.removesuffix("</pre>")


def test_a_figure(shown):
    data = shown["figure"]["application/vnd.plotly.v1+json"]
    assert [bar["name"] for bar in data["data"]] == [
        "computing",
        "exposed communication",
        "exposed copies",
        "idle",
    ]
    assert "stream" not in shown["figure"]


def test_any_arrow_table(shown):
    assert ">2.00 ms<" in shown["late"]["text/html"]


def test_a_formatter_of_ones_own_stays(cells, archives):
    own, ours = cells(
        "import pyarrow as pa\n"
        "formatter = get_ipython().display_formatter.formatters['text/html']\n"
        "formatter.for_type(pa.Table, lambda table: 'mine')\n"
        "import hta_sql\n"
        f"hta_sql.open({str(archives / 'base.archive')!r}).temporal_breakdown()",
        "formatter.pop(pa.Table)\n"
        f"hta_sql.open({str(archives / 'base.archive')!r}).temporal_breakdown()",
    )
    assert own["text/html"] == "mine"
    assert ours["text/html"].startswith("<table>")


def test_elsewhere_nothing_is_imported(archives):
    program = (
        "import sys, hta_sql\n"
        f"run = hta_sql.open({str(archives / 'base.archive')!r})\n"
        "run.temporal_breakdown()\n"
        "print([name for name in ('IPython', 'hta_sql.show.notebook', 'hta_sql.show.html',"
        " 'plotly', 'hta_sql.plot') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_ipython_imported_but_not_running(archives):
    """As in a program that uses a part of it."""
    pytest.importorskip("IPython")
    program = (
        "import IPython, hta_sql\n"
        f"print(hta_sql.open({str(archives / 'base.archive')!r}).temporal_breakdown()"
        ".num_rows)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (result.stdout, result.stderr) == ("2\n", "")
