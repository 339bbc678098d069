"""Open what a command is about, and write its result."""

import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hta_sql
from hta_sql.cli.progress import say
from hta_sql.show.formats import write
from hta_sql.show.units import counted

if TYPE_CHECKING:
    from hta_sql.archive import Archive
    from hta_sql.catalogue.query import Query
    from hta_sql.database.excerpt import Excerpt


def open_archives(
    archives: tuple[str, ...],
    engine: str = "local",
    address: str | None = None,
    models: Path | None = None,
    **rest: Any,
) -> "Archive":
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        archive = hta_sql.open(*archives, engine=engine, address=address, models=models, **rest)
    for warning in found:
        say(f"Warning: {warning.message}")
    return archive


def write_result(
    archive: "Archive",
    relation: Any,
    format: str | None,
    output: Path | None,
    why_empty: Callable[[], list[str]] = list,
    most_rows: int | None = None,
    how: str = "--wide",
) -> None:
    """Write a result from another thread, since Arrow waits for DuckDB deaf to Ctrl-C.

    If the result has no rows, the lines of `why_empty` follow on stderr. A line says so if it has
    more than `most_rows`, which are written. `how` says how to see columns that do not fit.
    """
    reasons: list[str] = []

    def cut() -> None:
        reasons.append(f"only the first {most_rows:,} rows (--max-rows)")

    with archive.session.unmoved(), ThreadPoolExecutor(1) as pool:
        writing = pool.submit(
            lambda: write(
                relation, format, output, lambda: reasons.extend(why_empty()), most_rows, cut, how
            )
        )
        try:
            writing.result()
        except KeyboardInterrupt:
            archive.session.con.interrupt()
            raise
    for reason in reasons:
        say(reason)


def write_answer(
    archive: "Archive",
    query: "Query",
    given: Mapping[str, Any],
    format: str | None,
    output: Path | None,
    excerpt: "Excerpt | None" = None,
) -> None:
    """Write a query's result, or an excerpt. If it has no rows, say what the archive lacks, or that
    the condition keeps none."""
    from hta_sql.database.excerpt import ALL, wrong_condition
    from hta_sql.database.no_data import why_no_rows
    from hta_sql.database.selection import check_selection
    from hta_sql.database.stored_results import lacking_stored

    _, values = query.call(given)
    check_selection(archive.session, values)
    how = "--columns, --wide" if excerpt else "--wide"
    excerpt = excerpt or ALL
    relation = archive.relation_of(query, given, excerpt)
    for warning in lacking_stored(archive.session, [query.macro]):
        say(warning)

    def why_empty() -> list[str]:
        if excerpt.where is not None:
            [(count,)] = archive.relation_of(query, given).aggregate("count(*)").fetchall()
            if count:
                rows = counted(count, "row")
                return [f"--where {excerpt.where!r} keeps none of the {rows} of {query.name}"]
        return why_no_rows(archive.session, query, values)

    try:
        write_result(archive, relation, format, output, why_empty, how=how)
    except Exception as error:  # DuckDB's own; or Arrow's, in which DuckDB's text is
        if wrong := wrong_condition(query, excerpt.where, error):
            raise wrong from error
        raise
