"""Stored results."""

from pathlib import Path

from click.testing import CliRunner

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli

CATALOG = Catalog.load()
STORED = CATALOG.stored
QUERIES = [query for query in CATALOG.queries if STORED.get(query.name) == query.macro]
RELATIONS = sorted(STORED.keys() - {query.name for query in QUERIES})


def invoke(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def rows_of(archive: Path, sql: str) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return [tuple(row.values()) for row in run.sql(sql).to_pylist()]


def stored_jobs(archive: Path, query: str = "job_summary_v2") -> list[str]:
    return [
        job
        for (job,) in rows_of(
            archive, f"SELECT job FROM stored_results WHERE query = '{query}' ORDER BY job"
        )
    ]


def differing(archive: Path) -> list[tuple]:
    """Rows of stored results that are not what their queries return, and the other way round."""
    found = []
    for name, macro in STORED.items():
        pair = f"FROM {macro}()", f"FROM stored_{name}"
        found += rows_of(
            archive,
            " UNION ALL ".join(
                f"(FROM (SELECT x::VARCHAR FROM ({a}) AS x) EXCEPT ALL "
                f"(SELECT x::VARCHAR FROM ({b}) AS x))"
                for a, b in (pair, pair[::-1])
            ),
        )
    return found
