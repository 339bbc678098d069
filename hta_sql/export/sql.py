"""Runs the SQL files of exports, with the values that they read."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import orjson

from hta_sql.database.sql_files import SqlFiles, set_variables

if TYPE_CHECKING:
    import duckdb

    from hta_sql.archive import Archive

FILES = SqlFiles("export")
LINES = 20_000
# Event ids that are read and sorted at the same time: about 100 MB, for ranks of any size.
RANGE = 200_000


@contextmanager
def tables(run: Archive, job: str, base_ns: int, **values: object) -> Iterator[None]:
    """Make empty tables that the files read, and set their variables; drop the tables later."""
    with run.narrowed([job]):
        yield from _tables(run.session.con, {"export_job": job, "export_base_ns": base_ns} | values)


def _tables(con: duckdb.DuckDBPyConnection, values: dict[str, object]) -> Iterator[None]:
    FILES.run(con, "begin")
    plain = {
        "export_all": True,
        "export_in_place": True,
        "export_rank_digits": None,
        "export_first_pid": None,
        "export_sort_index": None,
    }
    set_variables(con, **(plain | values))
    try:
        yield
    finally:
        FILES.drop_tables(con)


def lines(con: duckdb.DuckDBPyConnection, query: str) -> Generator[list[str]]:
    """The values of a query's column `line`, in batches."""
    with con.sql(query).to_arrow_reader(LINES) as reader:
        for batch in reader:
            yield [_strict(line) for line in batch.column("line").to_pylist()]


def _strict(line: str) -> str:
    """A line with null in place of NaN and infinities, which Python writes and JSON does not have.

    Other numbers stay exactly as they are written.
    """
    if "NaN" not in line and "Infinity" not in line:
        return line
    event = json.loads(
        line,
        parse_constant=lambda name: None,
        parse_float=orjson.Fragment,
        parse_int=orjson.Fragment,
    )
    return orjson.dumps(event).decode()


def lines_of_events(con: duckdb.DuckDBPyConnection, rank: int) -> Generator[list[str]]:
    """A rank's events in the order of their ids, read in ranges of ids."""
    set_variables(con, export_rank=rank)
    [(first, last)] = FILES.run(con, "range").fetchall()
    if first is None:
        return
    for begin_id in range(first, last + 1, RANGE):
        set_variables(con, export_from_id=begin_id, export_until_id=begin_id + RANGE)
        yield from lines(con, FILES.text("events"))
