"""Relations that archives store: stored rows are read, and only missing rows are computed.

The macro <name>_of of such a relation does this for any set of stored jobs. But planning the
computation takes most of the time of a small query. So if it is known which jobs have stored rows,
a simpler macro replaces it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.database.layers import literal

if TYPE_CHECKING:
    import duckdb

    from hta_sql.catalogue.catalog import Catalog


def compute_stored(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Compute all these relations, since there are no files with stored rows."""
    for relation, macro in _relations(catalog).items():
        _put(con, relation, f"FROM {macro}(jobs)")


def choose_stored(
    con: duckdb.DuckDBPyConnection, catalog: Catalog, reading: set[str], may_change: bool = False
) -> None:
    """Read stored rows if there are any.

    The macros depend on which jobs have them now, except if the stored rows `may_change` unnoticed.
    `reading` has the views that read files, and those of these relations that do; the relations in
    it are updated.
    """
    lacking: dict[str, list[str]] | None = None
    for relation, macro in _relations(catalog).items():
        stored = f"stored_{relation.removesuffix('_of')}"
        if stored not in reading:
            if relation in reading:
                _put(con, relation, f"FROM {macro}(jobs)")
                reading.remove(relation)
            continue
        reading.add(relation)
        if may_change:
            con.execute(catalog.chosen[relation])
            continue
        lacking = lacking or _lacking(con, catalog)
        body = f"FROM {stored} AS s WHERE (jobs IS NULL OR list_contains(jobs, s.job))"
        if jobs := lacking[macro]:
            # Without a lambda: callers give `jobs` as a subquery, too.
            asked = f"list_intersect(coalesce(jobs, {literal(jobs)}), {literal(jobs)})"
            body += f" UNION ALL BY NAME FROM {macro}({asked})"
        _put(con, relation, body)


def put_stored(
    con: duckdb.DuckDBPyConnection, catalog: Catalog, macro: str, condition: str
) -> None:
    """Read only stored rows of the relation that this macro computes."""
    for relation, computing in _relations(catalog).items():
        if computing == macro:
            stored = f"stored_{relation.removesuffix('_of')}"
            chosen = "(jobs IS NULL OR list_contains(jobs, s.job))"
            _put(con, relation, f"FROM {stored} AS s WHERE {chosen} AND {condition}")


def _relations(catalog: Catalog) -> dict[str, str]:
    """The macros <name>_of, each with the macro that computes the relation."""
    return {name: catalog.stored[name.removesuffix("_of")] for name in catalog.chosen}


def _lacking(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> dict[str, list[str]]:
    """The jobs without stored rows, for each macro that computes rows."""
    macros = list(_relations(catalog).values())
    found = con.execute(
        "SELECT m.macro, t.job FROM (SELECT DISTINCT job FROM traces) AS t "
        "CROSS JOIN (SELECT unnest($1) AS macro) AS m "
        "ANTI JOIN stored_results AS s ON s.job = t.job AND s.query = m.macro ORDER BY ALL",
        [macros],
    ).fetchall()
    return {macro: [job for of, job in found if of == macro] for macro in macros}


def _put(con: duckdb.DuckDBPyConnection, relation: str, body: str) -> None:
    con.execute(f"CREATE OR REPLACE MACRO {relation}(jobs) AS TABLE {body}")
