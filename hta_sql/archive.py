"""Opens archives, calls their queries, and returns Arrow tables.

Arrow is imported inside the functions, since the command line prints a table without it.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.catalogue.signatures import method_of
from hta_sql.database.excerpt import ALL, Excerpt
from hta_sql.database.no_data import why_no_rows
from hta_sql.database.promises import broken_promises
from hta_sql.database.selection import check_selection
from hta_sql.database.session import Session
from hta_sql.database.statement import relation_of_call, relation_of_sql
from hta_sql.database.stored_results import lacking_paths, lacking_stored
from hta_sql.engines import machine
from hta_sql.engines.machine import SAFE_BYTES, SAFE_SECONDS, bytes_of, core_count
from hta_sql.errors import ArchiveError, FilesMoved, HtaSqlError, NoData, above_package, from_duckdb
from hta_sql.methods import Methods

if TYPE_CHECKING:
    import pyarrow as pa

    from hta_sql.places.storage import Place
    from hta_sql.store.sources import Source

# If files move during a question, it is asked again for so long, as beside a loop that drops or
# compacts job by job, and then at most this often.
PATIENCE_SECONDS, ATTEMPTS = 30.0, 5
# Between two attempts, so that the process that moves files gets on.
PAUSE_SECONDS = 0.05


class Elsewhere(Protocol):
    """Answers the queries of an archive with other means than its own connection."""

    def answer(self, archive: Archive, query: Query, values: Mapping[str, Any]) -> pa.Table:
        """The same rows as the query, in the same order."""

    def close(self) -> None: ...


class Archive(Methods):
    """One archive, or several read as one; every query of the catalogue is a method.

    :func:`hta_sql.open` makes it. Queries and :meth:`sql` return a ``pyarrow.Table``;
    `help(run.NAME)` describes a query. Use an Archive in one thread only; open another one for each
    thread. All errors with an archive, a query's name, a parameter or a statement are HtaSqlErrors
    with a message of one line.

    For other modules of hta_sql: `session` has the connection and the files, and `relation_of` and
    `relation` return results that are not yet fetched.

    Args:
        archives: Folders, or URLs of object storage.
        only_jobs: Leaves out all other jobs, so that few files are opened.
        elsewhere: Answers the queries in place of this process.
        catalog: The queries. The default are those of hta_sql.
        models: A file with cost models, in SQL.
        safe: Lets `sql` run only a SELECT on tables and queries of the archives.
        timeout: The seconds that each query or statement may take.
        memory_limit: The memory that DuckDB may use, such as "4GB".
    """

    def __init__(
        self,
        *archives: str | os.PathLike[str] | Place | Source,
        only_jobs: Iterable[str] | None = None,
        elsewhere: Elsewhere | None = None,
        catalog: Catalog | None = None,
        models: str | os.PathLike[str] | None = None,
        safe: bool = False,
        timeout: float | None = None,
        memory_limit: str | None = None,
    ) -> None:
        if not archives:
            raise ArchiveError("no archive given; `hta-sql ingest TRACES ARCHIVE` makes one")
        self._elsewhere = elsewhere
        self._catalog = catalog or Catalog.load()
        memory_bytes = bytes_of(memory_limit) if memory_limit else machine.memory_limit()
        if safe:
            timeout, memory_bytes = timeout or SAFE_SECONDS, memory_bytes or SAFE_BYTES
        self.session = Session(
            archives,
            only_jobs,
            self._catalog,
            core_count(),
            models,
            safe=safe,
            memory_bytes=memory_bytes,
            seconds=timeout,
        )
        for line in self.session.schemas.warnings():
            warnings.warn(line, stacklevel=3)
        if "IPython" in sys.modules:
            from hta_sql.show.notebook import show_tables

            show_tables()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB connection, with all tables, views and queries loaded.

        You may create objects in it, and they stay. From now on it reads the files of all jobs that
        the archive was opened for, even if a query selects a few of them.
        """
        return self.session.lend()

    def query(self, name: str, /, version: int | None = None, **parameters: Any) -> pa.Table:
        """The result of a query by name.

        Args:
            name: The query, such as "kernel_stats".
            version: Its version. The default is the newest. The columns of a version and their
                meaning do not change: give the version in code that depends on them.
            parameters: The query's parameters.

        Returns:
            pyarrow.Table, with the columns of the query; times in integer nanoseconds.

        Raises:
            UnknownQuery: There is no such query or version.
            BadParameter: A parameter is unknown, missing or of another type, or names a job, rank
                or step that no part of the archive has.
            ArchiveError: Files of the archive are gone or cannot be read.
            HtaSqlError: The query fails, for example for memory.

        Warns:
            NoData: The result has no rows, because the traces lack what the query needs.

        Examples:
            >>> run.query("kernel_stats", version=1, top_k=5)
        """
        found = self._catalog.find(name, version)
        if found.deprecated:
            warnings.warn(f"{found}: {found.deprecated}", FutureWarning, stacklevel=above_package())
        _, values = found.call(parameters)
        check_selection(self.session, values)
        answer = self.rows_of(found, parameters)
        for lacking in lacking_stored(self.session, [found.macro]):
            warnings.warn(lacking, stacklevel=above_package())
        for reason in why_no_rows(self.session, found, values) if not answer.num_rows else ():
            warnings.warn(reason, NoData, stacklevel=above_package())
        return answer

    def sql(self, sql: str, params: Any = None) -> pa.Table:
        """The result of an SQL statement on the archive's tables, views and queries.

        Args:
            sql: One statement that returns rows.
            params: Values for ``$name`` (a dict) or ``?`` (a list).

        Returns:
            pyarrow.Table, with the statement's columns.

        Raises:
            HtaSqlError: The statement is wrong or fails; the message suggests names that are close.
            ArchiveError: Files of the archive are gone or cannot be read.

        Examples:
            >>> run.sql("SELECT count(*) AS n FROM events WHERE rank = $rank", {"rank": 0})
        """
        answer = self._steadily(lambda: _table(self.relation(sql, params)))
        called = self.called_in(sql)
        for lacking in lacking_stored(self.session, called) + lacking_paths(self.session, called):
            warnings.warn(lacking, stacklevel=2)
        return answer

    def rows_of(self, query: Query, given: Mapping[str, Any]) -> pa.Table:  # without warnings
        return self._steadily(lambda: _table(self.relation_of(query, given)))

    def relation_of(
        self, query: Query, given: Mapping[str, Any], excerpt: Excerpt = ALL
    ) -> duckdb.DuckDBPyRelation:
        """The result of a query, or an excerpt of it, not yet fetched."""
        sql, values = query.call(given)
        called = [query.macro, *self.called_in(excerpt.where or "")]
        answer = self._elsewhere.answer(self, query, values) if self._elsewhere else None
        return relation_of_call(self.session, query, sql, values, excerpt, called, answer)

    def relation(self, sql: str, params: Any = None) -> duckdb.DuckDBPyRelation:
        """The result of a statement, not yet fetched."""
        return relation_of_sql(self.session, sql, params)

    def called_in(self, sql: str) -> set[str]:
        """The queries that a statement may call."""
        return self._catalog.macros.keys() & set(re.findall(r"\w+", sql.lower()))

    @contextmanager
    def narrowed(self, jobs: Iterable[str] | None) -> Iterator[None]:
        """Read only these jobs inside a `with` block: few files of a large archive are opened."""
        with self.session.narrowed(jobs):
            yield

    def reload(self) -> None:
        """Read what was added to the archive since it was opened."""
        self.session.forget_files()
        self.session.find_files()

    def check(self, name: str, version: int | None = None) -> list[str]:
        """Test what a query's header promises on this archive: one line per broken promise."""
        query = self._catalog.find(name, version)
        return list(broken_promises(query, self.relation_of(query, {})))

    def check_tables(self) -> list[str]:
        """A line for each table and trace whose row count differs from what ingest wrote."""
        found = self.sql("FROM table_counts WHERE row_count <> written_count ORDER BY ALL")
        return [
            f"job {row['job']} rank {row['rank']}: {row['table_name']} holds {row['row_count']:,} "
            f"of {row['written_count']:,} rows; ingest it again with --force"
            for row in found.to_pylist()
        ]

    def close(self) -> None:
        self.session.close()
        if self._elsewhere:
            self._elsewhere.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"hta_sql.open({', '.join(repr(str(root)) for root in self.session.roots)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: one row per job."""
        from hta_sql.show.html import result_html

        return result_html(
            self.sql(
                "SELECT job, count(*) AS rank_count, string_agg(DISTINCT device_name, ', ' "
                "ORDER BY device_name) AS device_name, sum(event_count)::BIGINT AS event_count, "
                "sum(quarantined_count)::BIGINT AS quarantined_count, "
                "max(end_ns - start_ns) AS longest_ns FROM traces GROUP BY job ORDER BY job"
            )
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._catalog.newest]

    if not TYPE_CHECKING:  # type checkers read methods.pyi

        def __getattr__(self, name: str) -> Callable[..., pa.Table]:
            if name.startswith("_"):  # IPython and copy look for these, even before __init__ ran
                raise AttributeError(name)
            return method_of(self._catalog.find(name), self.query)

    def _steadily(self, ask: Callable[[], pa.Table]) -> pa.Table:
        """What `ask` returns. It is called again if `compact` or `drop` moved files meanwhile."""
        self.session.look_anew(on_disk=True)  # in object storage this is checked afterwards
        patience = min(PATIENCE_SECONDS, self.session.seconds or PATIENCE_SECONDS)
        until, left = time.monotonic() + patience, ATTEMPTS
        while True:
            try:
                with self.session.unmoved():
                    return ask()
            except (HtaSqlError, duckdb.Error, OSError) as error:
                # A move is announced before files are deleted. A reader that looks in between has
                # seen the announcement, and may still find files that are deleted a moment later.
                has_moved = isinstance(error, FilesMoved)
                if not (has_moved or self.session.lacks_file(error)):
                    raise
                left = ATTEMPTS if has_moved and time.monotonic() < until else left - 1
                if not left:
                    raise
                time.sleep(PAUSE_SECONDS)
                self.session.forget_files()


def _table(relation: duckdb.DuckDBPyRelation) -> pa.Table:
    try:
        return relation.to_arrow_table()
    except duckdb.Error as error:
        raise from_duckdb(error) from error
