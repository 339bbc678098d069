"""Open archives, call their queries, get Arrow tables back.

Imports of Arrow are inside the functions: the command line prints a table without it.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.database.attach import (
    ATTEMPTS,
    NO_LOOP_JOINS,
    archive_root,
    load_sources,
    schemas,
    without_progress_bar,
)
from hta_sql.database.stored import choose_stored
from hta_sql.database.template import copy_template
from hta_sql.engines.engine import start
from hta_sql.engines.local import LocalEngine
from hta_sql.engines.machine import core_count
from hta_sql.errors import (
    ArchiveError,
    BadParameter,
    FilesMoved,
    HtaSqlError,
    from_duckdb,
    one_line,
)
from hta_sql.places.storage import is_remote
from hta_sql.store.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from hta_sql.critical_path.compute import ComputedPath
    from hta_sql.fleet.materialize import Materialized
    from hta_sql.places.remote import ArchiveFiles
    from hta_sql.places.storage import Place

# A core, where they wait for object storage.
WAITING_THREADS = 4

_MISSING = re.compile(r"(?:Table|Table Function) with name (\w+) does not exist")
# How remote.py and DuckDB say that a file is not there. Of one that was replaced between its footer
# and its rows they say TProtocolException.
_GONE = re.compile(r"\.parquet is gone|No such file or directory|No files found that match")


class Archive:
    """One archive, or several read as one; every query of the catalogue is a method.

    An archive is a folder, or a URL of object storage. `only_jobs` leaves out all other jobs: of
    thousands, that opens few files. With an `engine` other than "local", queries are done there, by
    jobs; all else here.
    Queries and :meth:`sql` return a ``pyarrow.Table``. It is for one thread: open another for each.
    Whatever goes wrong with an archive, a
    query's name, a parameter or a statement is an HtaSqlError of one line.
    """

    def __init__(
        self,
        *archives: str | os.PathLike[str] | Place | Source,
        only_jobs: Iterable[str] | None = None,
        engine: str = "local",
        address: str | None = None,
        catalog: Catalog | None = None,
    ) -> None:
        if not archives:
            raise ArchiveError("no archive given; `hta-sql ingest TRACES ARCHIVE` makes one")
        self._engine = start(engine, address)
        self._sources = [
            archive if isinstance(archive, Source) else Source(archive_root(archive))
            for archive in archives
        ]
        self._roots = [source.root for source in self._sources]
        for root in self._roots:
            if self._roots.count(root) > 1:
                raise ArchiveError(f"{root} is given twice")
        self._catalog = catalog or Catalog.load()
        self._con = without_progress_bar(duckdb.connect())
        self._con.execute(NO_LOOP_JOINS)
        # DuckDB takes a thread for each core of the machine; two on one core took up to a third
        # longer than one. Those that read from object storage mostly wait.
        waiting = WAITING_THREADS if any(map(is_remote, self._roots)) else 1
        self._con.execute(
            "SET threads = least(current_setting('threads'), $1::BIGINT) * $2::BIGINT",
            [core_count(), waiting],
        )
        self._readers: dict[str, ArchiveFiles] = {}
        for source in self._sources:
            source.reader = self._reader(source.root)
        self._only_jobs = None if only_jobs is None else _named(only_jobs)
        self._seen_jobs = self._only_jobs
        self._mixed, older = schemas(self._con, self._sources)
        if older:
            warnings.warn(
                f"{older} {'trace was' if older == 1 else 'traces were'} ingested by an earlier "
                "hta_sql: columns that it did not write are NULL, which some queries take for "
                "nothing; ingest again to have them",
                stacklevel=3,
            )
        copy_template(self._con, self._catalog)
        self._has_sources = self._aligns = self._is_shared = self._counts_on_jobs = False
        self._stamps: list[object] = []
        self._reading: set[str] = set()  # views that read files
        if "IPython" in sys.modules:
            from hta_sql.show.notebook import show_tables

            show_tables()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB connection, with the tables, the views and all queries loaded.

        What is made in it stays: from now on all files are seen, whatever jobs are asked for.
        """
        self._see(None)
        if not self._is_shared:
            self._is_shared, self._has_sources = True, False
        self._load(self._catalog.macros)
        return self._con

    def query(self, name: str, /, version: int | None = None, **parameters: Any) -> pa.Table:
        """The result of a query by name, of the newest version unless told.

        A version's columns and their meaning do not change: give it where code depends on them.
        """
        found = self._catalog.find(name, version)
        if found.deprecated:
            warnings.warn(f"{found}: {found.deprecated}", FutureWarning, stacklevel=2)
        answer = self._steadily(lambda: _table(self._query_relation(found, parameters)))
        if lacking := self._lacking_results([found.macro]):
            warnings.warn(lacking, stacklevel=2)
        return answer

    def sql(self, sql: str, params: Any = None) -> pa.Table:
        """The result of any SQL over the archive's tables, views and queries.

        `params` are bound to ``$name`` (a dict) or ``?`` (a list).
        """
        answer = self._steadily(lambda: _table(self._sql_relation(sql, params)))
        if lacking := self._lacking_results(self._called_in(sql)):
            warnings.warn(lacking, stacklevel=2)
        return answer

    def compute_critical_path(
        self,
        *,
        step: int | None = None,
        annotation: str | None = None,
        instance: int = 0,
        only_jobs: Iterable[str] | None = None,
        only_ranks: Iterable[int] | None = None,
        data_loading: Iterable[str] = (),
        faster: Mapping[str, float] | None = None,
        progress: Callable[[str, int, int], None] = lambda job, done, total: None,
    ) -> list[ComputedPath]:
        """Find what bounds a step, an annotation or whole traces, and keep it in the archive.

        The window is the step `ProfilerStep#<step>`; or, of the host annotations of a rank whose
        name contains `annotation`, number `instance` in time, from 0; or all of the traces. It is
        sought on all ranks of all jobs unless told. Annotations with a name in `data_loading` are
        taken for loading of data, beside those of PyTorch's DataLoader. `faster` maps names of
        kernels, operators and calls, or what things are bound by, to how many times faster they
        shall be in `what_if`. `progress` gets a job, its ranks done and its ranks.

        The queries critical_path, critical_path_summary, critical_path_ranks and what_if read the
        result, until the window is computed again or one of its traces is ingested anew.
        HtaSqlError where there is no such window, ArchiveError where the archive cannot be written.
        """
        from hta_sql.critical_path.compute import (
            compute_critical_path,  # not at the top: it needs numpy
        )

        self._look_anew(self._sources)
        if only_jobs is not None:
            only_jobs = [only_jobs] if isinstance(only_jobs, str) else list(only_jobs)
        with self.narrowed(only_jobs):
            return compute_critical_path(
                self,
                step=step,
                annotation=annotation,
                instance=instance,
                only_jobs=only_jobs,
                only_ranks=only_ranks,
                data_loading=data_loading,
                faster=faster or {},
                progress=progress,
            )

    def materialize(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        force: bool = False,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Materialized:
        """Store in the archive what queries on all jobs read: results of those on single jobs.

        Computed is what is missing of the chosen jobs, or of which a trace was ingested anew since;
        with `force` all. `progress` gets the jobs that are done and their number. A job that fails
        stops no other: it is told in the result. ArchiveError where the archive cannot be written.
        """
        from hta_sql.fleet.materialize import (  # not at the top: it opens archives
            Materialized,
            materialize,
        )

        chosen = self._chosen(only_jobs)
        stored, failed = [], []
        for root in self._roots:
            done = materialize(root, chosen, force, progress)
            stored += done.jobs
            failed += done.failed
        self.reload()
        return Materialized(stored, failed)

    def root_of(self, job: str) -> Place:
        """The archive that holds a job; of several the first."""
        roots = {file: s.root for s in self._sources for file in s.manifest("traces")}
        [(path,)] = self._con.execute(
            "SELECT min(filename) FROM read_parquet($files, hive_partitioning = false, "
            "union_by_name = true, filename = true) WHERE job = $job",
            {"job": job, "files": list(roots)},
        ).fetchall()
        return roots[path]

    @contextmanager
    def narrowed(self, jobs: Iterable[str] | None) -> Iterator[None]:
        """See these jobs alone for a while: work on one of thousands opens few files."""
        before = self._only_jobs
        try:
            self._only_jobs = self._chosen(jobs)
            self._see(None)
            self._load()
            yield
        finally:
            self._only_jobs = before
            self._see(None)
            self._load()

    def reload(self) -> None:
        """See what has been added to the archive since it was opened."""
        for source in self._sources:
            source.reread()
        self._find_sources()

    def check(self, name: str, version: int | None = None) -> list[str]:
        """Test what a query's header promises on this archive; a line for every broken promise."""
        query = self._catalog.find(name, version)
        return list(self._broken_promises(query))

    def check_tables(self) -> list[str]:
        """A line for every table that holds not all of what ingest wrote of a trace."""
        found = self.sql("FROM table_counts WHERE row_count <> written_count ORDER BY ALL")
        return [
            f"job {row['job']} rank {row['rank']}: {row['table_name']} holds {row['row_count']:,} "
            f"of {row['written_count']:,} rows; ingest it again with --force"
            for row in found.to_pylist()
        ]

    def close(self) -> None:
        self._con.close()
        self._engine.close()
        for source in self._sources:
            source.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"hta_sql.open({', '.join(repr(str(root)) for root in self._roots)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the jobs, a row each."""
        from hta_sql.show.html import result_html

        return result_html(
            self.sql(
                "SELECT job, count(*) AS rank_count, string_agg(DISTINCT device_name, ', ' "
                "ORDER BY "
                "device_name) AS device_name, sum(event_count)::BIGINT AS event_count, "
                "sum(quarantined_count)::BIGINT AS quarantined_count, max(end_ns - start_ns) AS "
                "longest_ns FROM traces GROUP BY job ORDER BY job"
            )
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._catalog.newest]

    def __getattr__(self, name: str) -> Callable[..., pa.Table]:
        if name.startswith("_"):  # before __init__ has run, and what IPython and copy look for
            raise AttributeError(name)
        return _method(self, self._catalog.find(name))

    def _steadily(self, ask: Callable[[], pa.Table]) -> pa.Table:
        """What `ask` returns, asked again where `hta-sql compact` or `drop` came between."""
        # Of object storage that takes a request; there it is seen afterwards.
        self._look_anew(source for source in self._sources if not is_remote(source.root))
        for left in reversed(range(ATTEMPTS)):
            try:
                with self._unmoved():
                    return ask()
            except (HtaSqlError, duckdb.Error, OSError) as error:
                # What has moved is told before files go. Whoever looks in between is told no more,
                # and may still find files that no row names and that go a moment later.
                if not left or not (isinstance(error, FilesMoved) or self._may_have_gone(error)):
                    raise
                self._forget_files()

    def _may_have_gone(self, error: Exception) -> bool:
        """Whether it is for want of a file of the archive, and not of one that SQL names."""
        text = str(error)
        return (
            bool(_GONE.search(text))
            and any(str(root) in text for root in self._roots)
            or ("TProtocolException" in text)
        )

    @contextmanager
    def _unmoved(self) -> Iterator[None]:
        """FilesMoved where files went while they were read."""
        try:
            yield
        except (HtaSqlError, duckdb.Error, OSError) as error:
            failure = error
        else:
            failure = None
        has_changed = self._has_sources and self._stamps != self._stamps_of_now()
        if has_changed or any(source.has_moved() for source in self._sources):
            where = ", ".join(str(root) for root in self._roots)
            raise FilesMoved(
                f"{where}: was compacted, or jobs dropped or replaced, while it was read; ask again"
            ) from failure
        if failure:
            raise failure

    def _look_anew(self, sources: Iterable[Source]) -> None:
        """See where files are now, if some have moved since they were looked for."""
        if any(source.has_moved() for source in sources):
            self._forget_files()

    def _forget_files(self) -> None:
        """Look for all files anew at the next question."""
        for source in self._sources:
            source.reread()
        self._has_sources = False

    def _query_relation(self, query: Query, given: Mapping[str, Any]) -> duckdb.DuckDBPyRelation:
        """A query's result, not yet fetched."""
        sql, values = query.call(given)
        if not isinstance(self._engine, LocalEngine):
            from hta_sql.fleet.by_jobs import by_jobs  # not at the top: it needs Arrow

            return self._con.from_arrow(by_jobs(self, self._engine, query, values))
        self._see(values.get("only_jobs"))
        self._load([query.macro])
        try:
            return self._con.sql(sql, params=values or None)
        except duckdb.BinderException as error:
            if "supplied arguments" in str(error):
                raise BadParameter(f"{query.name}: {one_line(error)}") from error
            raise HtaSqlError(f"{query.name}: {one_line(error)}") from error
        except duckdb.Error as error:
            raise from_duckdb(error, f"{query.name}: ") from error

    def _sql_relation(self, sql: str, params: Any = None) -> duckdb.DuckDBPyRelation:
        """A statement's result, not yet fetched."""
        self._see(None)
        self._load(self._called_in(sql))
        try:
            relation = self._con.sql(sql, params=params)
        except duckdb.CatalogException as error:
            hint = self._hint(str(error))
            raise HtaSqlError(hint or one_line(error)) from error
        except (duckdb.Error, ValueError) as error:
            raise HtaSqlError(one_line(error)) from error
        if relation is None:
            raise HtaSqlError("no SQL statement given")
        return relation

    def _called_in(self, sql: str) -> set[str]:
        """The queries that a statement may call."""
        return self._catalog.macros.keys() & set(re.findall(r"\w+", sql.lower()))

    def _jobs_without_results(self, macro: str = "") -> list[dict[str, Any]]:
        """The jobs seen of which nothing current of a query is stored; all of no query.

        Rows of job, event_count and traces_hash.
        """
        self._load()
        return _table(
            self._con.sql("FROM jobs_without_results($name)", params={"name": macro})
        ).to_pylist()

    def _lacking_results(self, queries: Iterable[str]) -> str | None:
        """What to say of queries that read stored results, where some of their jobs have none."""
        texts = [self._catalog.macros[name][0].sql for name in queries]
        read = [
            macro
            for name, macro in self._catalog.stored.items()
            if any(f"stored_{name}" in text for text in texts)
        ]
        lacking = {row["job"] for other in read for row in self._jobs_without_results(other)}
        if not lacking:
            return None
        count = len(self._jobs_without_results())
        return (
            f"{len(lacking):,} of {count:,} job{'s' * (count > 1)} "
            f"{'has' if len(lacking) == 1 else 'have'} no stored results: "
            "hta-sql materialize ARCHIVE"
        )

    def _load(self, names: Iterable[str] = ()) -> None:
        """Make the tables readable, and what these queries need beside SQL."""
        aligning = any("aligned_places(" in self._catalog.macros[name][0].sql for name in names)
        if aligning and not self._aligns:
            from hta_sql.database.alignment import register  # not at the top: it needs numpy

            register(self._con)
            self._aligns = True
        if not self._has_sources or self._stamps != self._stamps_of_now():
            self._find_sources()

    def _reader(self, root: Place) -> ArchiveFiles | None:
        """What DuckDB reads an archive in object storage by; one for all of a kind."""
        if not is_remote(root):
            return None
        kind = root.protocol
        if kind not in self._readers:
            from hta_sql.places.remote import ArchiveFiles  # not at the top: it needs fsspec

            self._readers[kind] = ArchiveFiles(root.fs)
            self._con.register_filesystem(self._readers[kind])
        return self._readers[kind]

    def _stamps_of_now(self) -> list[object]:
        """What tells whether stored rows, where they are counted on, are still of all jobs."""
        return [source.stamps for source in self._sources] if self._counts_on_jobs else []

    def _find_sources(self) -> None:
        stamps = [source.stamps for source in self._sources]
        mixed = self._mixed if self._seen_jobs is None else self._mixed & self._seen_jobs
        load_sources(
            self._con, self._catalog, self._sources, bool(mixed), self._seen_jobs, self._reading
        )
        self._counts_on_jobs = choose_stored(
            self._con, self._catalog, self._reading, may_change=self._is_shared
        )
        self._stamps = stamps if self._counts_on_jobs else []
        self._has_sources = True

    def _see(self, jobs: Iterable[str] | None) -> None:
        """Look into the files of these jobs alone, of those that the archive was opened for."""
        seen = self._chosen(jobs)
        if seen != self._seen_jobs and not self._is_shared:
            self._seen_jobs = seen
            self._has_sources = False

    def _chosen(self, jobs: Iterable[str] | None) -> frozenset[str] | None:
        """Of these jobs, or all, those that the archive was opened for; None means all."""
        if jobs is None:
            return self._only_jobs
        jobs = _named(jobs)
        return jobs if self._only_jobs is None else self._only_jobs & jobs

    def _hint(self, error: str) -> str | None:
        """What to write instead of a table or query that is not there."""
        missing = _MISSING.search(error)
        if not missing:
            return None
        name = missing[1]
        views = self._con.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal "
            "AND NOT regexp_matches(view_name, '_by_(rank|job)$') ORDER BY view_name"
        ).fetchall()
        tables = [view for (view,) in views]
        queries = self._catalog.macros
        if name in queries:
            return f"{name} is a query: write FROM {name}()"
        if name in tables:
            return f"{name} is a table, not a query: write FROM {name}"
        near = get_close_matches(name, [*tables, *queries], n=1)
        guess = f"; did you mean {near[0]}{'()' * (near[0] in queries)}?" if near else ";"
        return f"no table {name!r}{guess} the tables are {', '.join(tables)}"

    def _broken_promises(self, query: Query) -> Iterator[str]:
        call, values = query.call({})
        found = self._query_relation(query, values)
        declared = [(column.name, column.type) for column in query.columns]
        seen = [(name, str(kind)) for name, kind in zip(found.columns, found.types, strict=True)]
        if seen != declared:
            yield f"{query}: the columns are {seen}, declared are {declared}"
            return
        grain = ", ".join(query.grain)
        failing = "".join(f", count_if(NOT ({check}))" for check in query.checks)
        counted = f"SELECT count(*), count(DISTINCT row({grain})){failing} {call}"
        try:
            [(rows, distinct, *failed)] = self._con.execute(counted).fetchall()
        except duckdb.Error as error:
            raise from_duckdb(error, f"{query.name}: ") from error
        if distinct < rows:
            yield f"{query}: {rows - distinct} of {rows} rows repeat their grain ({grain})"
        for check, count in zip(query.checks, failed, strict=True):
            if count:
                [first] = self._con.execute(
                    f"SELECT {grain} {call} WHERE NOT ({check}) LIMIT 1"
                ).fetchall()
                where = ", ".join(f"{k} {v}" for k, v in zip(query.grain, first, strict=True))
                yield f"{query}: {count} of {rows} rows fail '{check}', first at {where}"


def _named(jobs: Iterable[str]) -> frozenset[str]:
    """The jobs; a name alone is one."""
    return frozenset([jobs] if isinstance(jobs, str) else jobs)


def _table(relation: duckdb.DuckDBPyRelation) -> pa.Table:
    try:
        return relation.to_arrow_table()
    except duckdb.Error as error:
        raise from_duckdb(error) from error


def _method(archive: Archive, query: Query) -> Callable[..., pa.Table]:
    """A query as a method that takes its parameters by name; its header is the docstring."""

    def call(*args: Any, **parameters: Any) -> pa.Table:
        if args:
            raise BadParameter(f"{query.name} takes its parameters by name: {signature}")
        return archive.query(query.name, **parameters)

    parameters = []
    for p in query.parameters:
        default = inspect.Parameter.empty if p.default is None else _SqlText(p.default)
        parameters.append(
            inspect.Parameter(
                p.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_SqlText(p.type)
            )
        )
    signature = inspect.Signature(parameters, return_annotation=_SqlText("pyarrow.Table"))
    call.__name__ = call.__qualname__ = query.name
    call.__doc__ = _docstring(query)
    call.__signature__ = signature
    return call


class _SqlText(str):
    """A type or default in a signature, shown as the SQL has it."""

    def __repr__(self) -> str:
        return str(self)


def _docstring(query: Query) -> str:
    width = max(len(column.name) for column in query.columns)
    parts = [query.summary, query.text]
    if query.parameters:
        parts += ["Parameters:\n" + "\n".join(f"    {p}: {p.text}" for p in query.parameters)]
    parts += [
        "Columns:\n" + "\n".join(f"    {c.name:{width}}  {c.type}, {c.text}" for c in query.columns)
    ]
    return "\n\n".join(filter(None, parts))
