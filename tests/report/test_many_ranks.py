"""A report on many ranks stays small enough to be sent and read."""

import json
import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hand_written import without_checksums

import hta_sql
from hta_sql.demo import write_job
from hta_sql.report import write_report

pytestmark = pytest.mark.queries

RANKS = 128


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    """The report on ranks of which all but two are copies: ingesting as many takes long."""
    folder = tmp_path_factory.mktemp("many")
    write_job(folder / "job", ranks=2, steps=1, layers=1)
    hta_sql.ingest(folder / "job", folder / "archive", workers=1)
    table = folder / "archive" / "traces.parquet"
    traces = pq.read_table(table)
    rows = without_checksums(folder / "archive", traces.to_pylist())
    for rank in range(2, RANKS):
        of_it = rows[rank % 2]
        rows.append(of_it | {"rank": rank, "trace_id": f"{of_it['trace_id']}-{rank}"})
        for files in (folder / "archive").glob(f"*/job=job/rank={rank % 2}"):
            shutil.copytree(files, files.parent / f"rank={rank}")
    pq.write_table(pa.Table.from_pylist(rows, schema=traces.schema), table)
    with hta_sql.open(folder / "archive") as run:
        assert write_report(run, folder / "report.html") == []
    return (folder / "report.html").read_text(encoding="utf-8")


def test_it_is_small(page):
    assert f"<dt>ranks</dt><dd>{RANKS}<" in page
    assert len(page.encode()) < 8_000_000


def test_legends_are_short(page):
    figures = [
        json.loads(data)
        for data in re.findall(r'<script type="application/json">(.*?)</script>', page)
    ]
    assert len(figures) > 10
    for figure in figures:
        shown = [trace for trace in figure["data"] if trace.get("showlegend", True)]
        lines = len(shown) if figure["layout"].get("showlegend", True) else 0
        assert lines <= 8
        assert figure["layout"]["height"] <= 1550


def test_few_ranks_stand_for_all(page):
    captions = re.findall(r"Ranks ([\d, ]+) of 128\.", page)
    assert len(captions) > 2 and len(set(captions)) == 1
    ranks = [int(rank) for rank in captions[0].split(", ")]
    assert len(ranks) == 8 and ranks == sorted(set(ranks)) and set(ranks) < set(range(RANKS))
    assert ranks[0] < 10 and ranks[-1] > 118
