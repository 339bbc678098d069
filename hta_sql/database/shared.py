"""Relations that a session computes once, for all queries that read them.

DuckDB plans a view or macro again wherever a query reads it. On a small archive, planning takes
nearly all of the time of a query. So the first query that reads a shared relation makes a table of
its rows. On a large archive, this is so for the few relations that take long to compute. Tables,
and macros that read them, are in a schema of their own, which the search path has before `main`:
they take the place of the views and macros of the same name. They are dropped when the session
looks for the archive's files again.

catalogue/sharing.py says how relations declare that they are shared.
"""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.catalogue.sharing import SCHEMA, Shared
from hta_sql.errors import MemoryLimit, from_duckdb, limit_in, one_line

if TYPE_CHECKING:
    from hta_sql.store.lists import Lists

# A small archive has at most so many events, and files other than those of events of so many bytes.
# Beyond, tables in memory take several hundred MB.
MOST_EVENTS = 200_000
MOST_BYTES = 32 << 20
# Up to so many events, to share pays for the first question. Beyond, a session with one question
# is faster without: it need not read whole tables.
FEW_EVENTS = 20_000

# Where names are looked up: first what is shared.
PATH = f"SET search_path = 'memory.{SCHEMA},memory.main'"

_numbers = itertools.count()


class SharedTables:
    """What the session with this connection shares."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._made: set[str] = set()
        self._answers: dict[str, weakref.ref[duckdb.DuckDBPyRelation]] = {}

    @cached_property
    def _known(self) -> tuple[dict[str, Shared], dict[str, list[str]]]:
        [(text,)] = self._con.execute("SELECT main.hta_sharing()").fetchall()
        said = json.loads(text)
        made = {name: Shared(*how) for name, how in said["made"].items()}
        return made, said["needed"]

    def make(self, names: Iterable[str], *, is_small: bool = True) -> None:
        """Make what these views and macros read, as far as it is not there. On large archives, only
        what is shared at any size.

        What cannot be made is left out: then a query reads the files, and says what is wrong.
        """
        made, needed = self._known
        wanted = {shared for name in names for shared in needed.get(name, ())} - self._made
        wanted = {name for name in wanted if is_small or made[name].is_of_any_size}
        if not wanted:
            return
        self._open()
        for name in (name for name in made if name in wanted):  # each after those that it reads
            self._made.add(name)
            try:
                for statement in made[name].statements:
                    self._con.execute(statement)
            except duckdb.Error as error:
                limit = limit_in(one_line(error))
                if limit and not isinstance(limit, MemoryLimit):
                    raise from_duckdb(error) from error

    def _open(self) -> None:
        if not self._made:
            self._con.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; {PATH}")

    def put(self, name: str, statement: str) -> None:
        """Make something else, by one statement."""
        if name not in self._made:
            self._open()
            self._con.execute(statement)
            self._made.add(name)

    def drop(self) -> None:
        """Drop what was made; names mean again what they mean in `main`."""
        if self._made:
            self._con.execute(f"SET search_path = 'memory.main'; DROP SCHEMA {SCHEMA} CASCADE")
            self._made.clear()
        self._drop_answers()

    def _drop_answers(self) -> None:
        """Drop the tables of answers whose relations are no longer in use."""
        for table in [name for name, relation in self._answers.items() if relation() is None]:
            self._con.execute(f"DROP TABLE IF EXISTS temp.{table}")
            del self._answers[table]

    def kept(self, sql: str, values: dict[str, Any] | None) -> duckdb.DuckDBPyRelation:
        """The rows of a statement, in a table that stays as long as the relation is in use."""
        self._drop_answers()
        table = f"answer_{next(_numbers)}"
        self._con.execute(f"CREATE TEMP TABLE {table} AS {sql}", values)
        relation = self._con.table(f"temp.{table}")
        self._answers[table] = weakref.ref(relation)
        return relation

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Another connection for statements at the same time, which sees the same."""
        cursor = self._con.cursor()
        if self._made:
            cursor.execute(PATH)
        return cursor


def events_of_small(
    con: duckdb.DuckDBPyConnection, found: Lists, jobs: Collection[str] | None, most_events: int
) -> int | None:
    """The number of events of these jobs; None if what queries share does not fit in memory."""
    if found.byte_counts is None:
        return None
    if sum(n for table, n in found.byte_counts.items() if table != "events") > MOST_BYTES:
        return None
    files = found.files["archive_manifest"]["traces"]
    if not files:
        return 0
    [(count,)] = con.execute(
        "SELECT coalesce(sum(event_count), 0) FROM read_parquet($files, hive_partitioning = false, "
        "union_by_name = true) WHERE $jobs IS NULL OR list_contains($jobs, job)",
        {"files": files, "jobs": None if jobs is None else list(jobs)},
    ).fetchall()
    return int(count) if count <= most_events else None
