"""A DuckDB connection that reads archives; it knows their files, and whether files moved."""

from __future__ import annotations

import os
import re
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.attach import load_sources, schemas, without_progress_bar
from hta_sql.database.job_selection import JobSelection, named
from hta_sql.database.kept_findings import KeptFindings
from hta_sql.database.models import load_models
from hta_sql.database.own_rules import config_folder, put_own_rules
from hta_sql.database.planning import PLANNING, Threads, plan_for_size
from hta_sql.database.reading import fault_behind
from hta_sql.database.roots import archive_root
from hta_sql.database.sandbox import WITHOUT_SURPRISES, Sandbox, lock, one_statement
from hta_sql.database.shared import FEW_EVENTS, MOST_EVENTS, SharedTables, events_of_small
from hta_sql.database.stored_macros import made_with
from hta_sql.database.stored_relations import choose_stored
from hta_sql.database.template import copy_template
from hta_sql.errors import DAMAGED, ArchiveError, FilesMoved, HtaSqlError, ends_work
from hta_sql.places.storage import is_remote
from hta_sql.store.sources import Source

if TYPE_CHECKING:
    from hta_sql.places.remote import ArchiveFiles
    from hta_sql.places.storage import Place

# The messages of remote.py and DuckDB for a missing file. For a file that was replaced between the
# reads of its footer and its rows, the message has TProtocolException.
_GONE = re.compile(r"\.parquet is gone|No such file or directory|No files found that match")

_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def interrupt_all() -> None:
    """End what DuckDB does in all sessions of this process. It may be called by any thread."""
    for session in list(_sessions):
        with suppress(duckdb.Error):  # it may be closed already
            session.con.interrupt()


class Session(JobSelection):
    """Archives attached to a connection of their own, `con`, with the macros of `catalog`.

    `only_jobs` are the jobs that it was opened for, and `seen_jobs` those whose files it reads now.
    None stands for all jobs.
    """

    def __init__(
        self,
        archives: Iterable[str | os.PathLike[str] | Place | Source],
        only_jobs: Iterable[str] | None,
        catalog: Catalog,
        cores: int,
        models: str | os.PathLike[str] | None = None,
        *,
        safe: bool = False,
        memory_bytes: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.sources = [
            archive if isinstance(archive, Source) else Source(archive_root(archive))
            for archive in archives
        ]
        self.roots = [source.root for source in self.sources]
        for root in self.roots:
            if self.roots.count(root) > 1:
                raise ArchiveError(f"{root} is given twice")
        self.catalog = catalog
        self.con = without_progress_bar(duckdb.connect(config=WITHOUT_SURPRISES | PLANNING))
        if memory_bytes:
            self.con.execute(f"SET memory_limit = '{memory_bytes}B'")
        self._waits = any(map(is_remote, self.roots))
        self.threads = Threads(self.con, cores, self._waits)
        _sessions.add(self)
        self._readers: dict[str, ArchiveFiles] = {}
        for source in self.sources:
            source.reader = self._reader(source.root)
        self.only_jobs = self.seen_jobs = None if only_jobs is None else named(only_jobs)
        self.facts: dict[Any, Any] = {}  # what was found out about the files
        self.schemas = schemas(self.con, self.sources)
        copy_template(self.con, self.catalog)
        if models is not None:
            load_models(self.con, Path(models))
        self._has_models, self._rules = models is not None, {}
        self.folder_beside: Path | None = None
        self.shared, self.findings = SharedTables(self.con), KeptFindings(self.con)
        self.has_sources = self._aligns = self.is_lent = self.is_small = self._was_asked = False
        self.most_events, self._event_count = MOST_EVENTS, None
        self.is_whole = True  # whether all files are as the archive lists them
        self._reading: set[str] = set()  # views that read files
        self._is_safe, self.seconds = safe, seconds
        self._sandbox: Sandbox | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        if seconds:
            self.con.execute(f"SET max_execution_time = {max(1, round(seconds * 1000))}")
        if safe:
            self._enclose()

    def _enclose(self) -> None:
        """Let the connection read only the archives, and keep its settings from now on."""
        self._scratch = tempfile.TemporaryDirectory(prefix="hta-sql-")
        for source in self.sources:
            source.reread()
            source.scratch = Path(self._scratch.name)
        self.load()
        folders = [*map(str, self.roots), self._scratch.name]
        lock(self.con, folders, Path(self._scratch.name, "spill"))
        self._sandbox = Sandbox(self.con, [*self.catalog.macros, *self.catalog.newest])

    def statement(self, sql: str) -> duckdb.Statement:
        """The one statement of a text; raises HtaSqlError if it may not run here."""
        if self._sandbox:
            return self._sandbox.admit(self.con, sql)
        return one_statement(self.con, sql)

    def lend(self) -> duckdb.DuckDBPyConnection:
        """The connection, for callers that create objects in it, with all that queries need.

        From now on, it reads the files of all jobs that the archives were opened for.
        """
        self.see(None)
        if not self.is_lent:
            self.is_lent, self.has_sources = True, False
            self.findings.make_tables()  # outside the caller's transactions
        self.load(self.catalog.macros)
        return self.con

    def load(self, names: Iterable[str] = (), *, is_one_of_many: bool = False) -> None:
        """Make the tables readable, and what these queries, views and macros need: the Python
        functions, and what they share. `is_one_of_many`: more will be asked."""
        names = list(names)
        queries = (self.catalog.macros[name][0] for name in names if name in self.catalog.macros)
        aligning = any("aligned_places(" in query.sql for query in queries)
        if aligning and not self._aligns:
            from hta_sql.database.alignment import register  # not at the top: it needs numpy

            register(self.con)
            self._aligns = True
        self.refresh()
        if not self.has_sources:
            self.find_files()
        if names and self._event_count is not None:
            if self._event_count <= FEW_EVENTS or self._was_asked or is_one_of_many:
                self._plan(is_small=True)
                if self._event_count <= MOST_EVENTS and not (self._waits or self._is_safe):
                    self.threads.use_one()
                self.shared.make(names)
            self._was_asked = True
        elif not self.is_lent:  # the archive is large; the answers of queries may be stored
            others = set(names) - self.catalog.macros.keys() - self.catalog.newest.keys()
            if others:
                self.shared.make(others, is_small=False)

    def answer(self, sql: str, values: dict[str, Any] | None) -> duckdb.DuckDBPyRelation:
        """The rows of a call, not yet fetched.

        DuckDB plans a relation when it is made, and again when its rows are fetched. So on small
        archives, the rows are computed at once.
        """
        if not self.is_small:
            return self.con.sql(sql, params=values)
        return self.shared.kept(sql, values)

    def find_files(self) -> None:
        """Let the views read the current files of the jobs in `seen_jobs`."""
        self.shared.drop()
        self._plan(is_small=False)
        mixed = self.schemas.mixed
        if self.seen_jobs is not None:
            mixed = mixed & self.seen_jobs
        found = load_sources(
            self.con,
            self.catalog,
            self.sources,
            bool(mixed),
            self.seen_jobs,
            self._reading,
            is_live=self.is_lent,
            no_links=self._is_safe,
        )
        choose_stored(self.con, self.catalog, self._reading, may_change=self.is_lent)
        if not self.has_sources:
            folders = [config_folder(), *(source.root for source in self.sources)]
            self._rules = put_own_rules(self.con, folders, before=self._rules)
        self.has_sources = True
        self.is_whole = not found.faults
        count = events_of_small(self.con, found, self.seen_jobs, self.most_events)
        self._event_count = None if self.is_lent else count  # None: nothing is shared

    @property
    def made_with(self) -> str | None:
        """What results are made with here; None if the user may have changed more than rules."""
        if self._has_models or self.is_lent:
            return None
        return made_with(self.catalog, self._rules)

    def reads(self, view: str) -> bool:
        """Whether a view reads files."""
        return view in self._reading

    def _plan(self, is_small: bool) -> None:
        if is_small != self.is_small:
            plan_for_size(self.con, is_small)
        self.is_small = is_small
        if not is_small:
            self.threads.use_all()

    @contextmanager
    def unmoved(self) -> Iterator[None]:
        """Raise FilesMoved if files were moved or deleted inside a `with` block."""
        try:
            yield
        except (HtaSqlError, duckdb.Error, OSError) as error:
            if ends_work(error):
                raise
            failure = error
        else:
            failure = None
        if any(source.has_moved() for source in self.sources):
            where = ", ".join(str(root) for root in self.roots)
            raise FilesMoved(
                f"{where}: files were compacted, dropped or replaced during the read; try again"
            ) from failure
        if failure and (fault := fault_behind(failure, self.roots, self.seen_jobs)):
            self.is_whole = False  # other jobs can be asked for
            raise ArchiveError(DAMAGED + fault) from failure
        if failure:
            raise failure

    def lacks_file(self, error: Exception) -> bool:
        """Whether an error says that a file of the archives is gone, and not one that SQL names."""
        text = str(error)
        is_ours = any(str(root) in text for root in self.roots)
        return bool(_GONE.search(text)) and is_ours or "TProtocolException" in text

    def look_anew(self, *, on_disk: bool = False) -> None:
        """Look for the files again if some have moved.

        In object storage, this check takes a request. With `on_disk`, only archives on disk are
        checked.
        """
        asked = (s for s in self.sources if not (on_disk and is_remote(s.root)))
        if any(source.has_moved() for source in asked):
            self.forget_files()

    def refresh(self) -> None:
        """Look for all files again if the archives have changed."""
        if any(source.has_changed() for source in self.sources):
            self.forget_files()

    def forget_files(self) -> None:
        """Look for all files again before the next query."""
        for source in self.sources:
            source.reread()
        self.findings.forget()
        self.look_again()

    def root_of(self, job: str) -> Place:
        """The archive that has a job; if several have it, the one that was given first."""
        roots = {file: s.root for s in self.sources for file in s.manifest("traces")}
        [(at,)] = self.con.execute(
            "SELECT min(list_position($files, filename)) FROM read_parquet($files, "
            "hive_partitioning = false, union_by_name = true, filename = true) WHERE job = $job",
            {"job": job, "files": list(roots)},
        ).fetchall()
        return list(roots.values())[at - 1]

    def close(self) -> None:
        self.con.close()
        self.clean_up()

    def clean_up(self) -> None:
        """Remove the session's temporary files. Any thread may call it, and nothing reads after."""
        for source in self.sources:
            source.close()
        if self._scratch:
            self._scratch.cleanup()

    def _reader(self, root: Place) -> ArchiveFiles | None:
        """The file system through which DuckDB reads object storage: one per kind of storage."""
        if not is_remote(root):
            return None
        kind = root.protocol
        if kind not in self._readers:
            from hta_sql.places.remote import ArchiveFiles  # not at the top: it needs fsspec

            self._readers[kind] = ArchiveFiles(root.fs)
            self.con.register_filesystem(self._readers[kind])
        return self._readers[kind]
