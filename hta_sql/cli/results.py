"""Open what a command is about, and write its result."""

import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import hta_sql
from hta_sql.show.formats import write

if TYPE_CHECKING:
    from hta_sql.archive import Archive


def open_archives(
    archives: tuple[str, ...], engine: str = "local", address: str | None = None
) -> "Archive":
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        archive = hta_sql.open(*archives, engine=engine, address=address)
    for warning in found:
        click.echo(f"Warning: {warning.message}", err=True)
    return archive


def write_result(
    archive: "Archive", relation: Any, format: str | None, output: Path | None
) -> None:
    """Write a result from another thread, since Arrow waits for DuckDB deaf to Ctrl-C."""
    with archive.session.unmoved(), ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: write(relation, format, output))
        try:
            writing.result()
        except KeyboardInterrupt:
            archive.session.con.interrupt()
            raise


def tell_lacking_results(archive: "Archive", queries: Iterable[str]) -> None:
    """Say which results these queries read and some jobs do not have, and how to make them."""
    from hta_sql.database.stored_results import lacking_results

    for warning in lacking_results(archive.session, queries):
        click.echo(warning, err=True)
