"""Finds what the rules of sql/findings find, in stages, each with a table of its own.

The macro found_by_rules does the same in one statement, for shells. Planning this statement takes
several seconds, however small the traces are. Stages are planned in a third of this time, and two
at once.
"""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.catalogue.findings import GIVEN, MADE, before, takes_of, written_files
from hta_sql.database.attach import without_progress_bar
from hta_sql.database.layers import literal
from hta_sql.database.stored_results import jobs_without_results
from hta_sql.errors import from_duckdb

if TYPE_CHECKING:
    from hta_sql.catalogue.query import Query
    from hta_sql.database.session import Session

# What stands in place of a call of the query, after compute_findings; it takes the jobs.
STAGED = {"findings_v1": "FROM computed_findings_of($only_jobs)"}

_numbers = itertools.count()


def with_findings(
    session: Session, query: Query, sql: str, values: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The call of a query and its values. If it reads findings, these are computed before.

    The query findings computes those of all its jobs. Queries that read known_findings get those of
    jobs without stored findings.
    """
    jobs = values.get("only_jobs")
    if query.macro in STAGED:
        compute_findings(session, jobs)
        return STAGED[query.macro], {"only_jobs": jobs}
    if "known_findings(" in query.sql:
        stored_not = {row["job"] for row in jobs_without_results(session, "findings_v1")}
        if lacking := sorted(stored_not if jobs is None else stored_not & set(jobs)):
            compute_findings(session, lacking)
            session.see(jobs)
            session.load([query.macro])
    return sql, values


def compute_findings(session: Session, jobs: list[str] | None) -> None:
    """Let the table computed_findings of the session have the findings of these jobs.

    It has the columns of the query findings, and keeps findings until files change. None stands for
    all jobs of the session.
    """
    session.see(jobs)
    session.load(["findings_v1"], is_one_of_many=True)
    if session.is_lent:  # its user may have changed what findings are computed from
        session.findings.forget()
    try:
        wanted = jobs
        if jobs is None:
            rows = session.con.execute("SELECT DISTINCT job FROM traces").fetchall()
            wanted = [job for (job,) in rows]
        lacking = session.findings.lacking(wanted)
        if lacking:
            session.load([MADE], is_one_of_many=True)
            run = _Stages(session, None if jobs is None and lacking == sorted(wanted) else lacking)
            with session.unmoved():
                try:
                    session.findings.add(lacking, run.all())
                finally:
                    run.drop_tables()
    except duckdb.Error as error:
        raise from_duckdb(error, "findings: ") from error


class _Stages:
    """The stages of one call: relations that rules share, and rules, each as one statement."""

    def __init__(self, session: Session, jobs: list[str] | None):
        self._session = session
        self._con = session.con
        self._jobs = literal(jobs) + ("" if jobs is None else "::VARCHAR[]")
        self._prefix = f"findings_{next(_numbers)}_"
        takes = takes_of(written_files(session.catalog.root))
        # The rules that have run. A rule finds nothing if the first relation that it takes has no
        # rows: then it does not run.
        self._ran: list[str] = []
        self._empty: set[str] = set()
        self._begun: list[str] = []  # stages whose tables may exist
        self._calls = {
            name: f"FROM shared_{name}({self._given(given)})"
            for name, given in takes["shared"].items()
        } | {
            f"find_{name}": f"SELECT '{name}' AS rule, * FROM find_{name}({self._given(given)})"
            for name, given in takes["find"].items()
        }
        self._before = {name: before(given) for name, given in takes["shared"].items()} | {
            f"find_{name}": before(given) for name, given in takes["find"].items()
        }
        self._has_ended = False
        self._own = threading.local()
        self._cursors: list[duckdb.DuckDBPyConnection] = []

    def all(self) -> str:
        """Run all stages, two at once; returns a SELECT of what all rules have found.

        A thread runs them: Ctrl-C, which the main thread gets, may leave the locks of a pool
        locked for good.
        """
        ended: SimpleQueue[BaseException | None] = SimpleQueue()
        runner = threading.Thread(target=self._run_all, args=(ended,))
        try:
            runner.start()
            error = ended.get()
        except BaseException:  # such as Ctrl-C: the stages are of no use
            self._has_ended = True
            while runner.is_alive():
                self._interrupt()
                runner.join(0.02)
            raise
        if error:
            raise error
        found = " ".join(f"UNION ALL BY NAME FROM {self._prefix}{n}" for n in sorted(self._ran))
        return (
            f"WITH found AS (FROM finding_rows() {found}) "
            f"FROM ranked_findings(found, {self._prefix}scopes, {self._prefix}comm_ranks)"
        )

    def drop_tables(self) -> None:
        """Drop the tables of the stages."""
        for cursor in self._cursors:
            cursor.close()
        made = (f"DROP TABLE IF EXISTS {self._prefix}{name};" for name in self._begun)
        self._con.execute("".join(made))

    def _run_all(self, ended: SimpleQueue[BaseException | None]) -> None:
        """Run all stages, and put what went wrong into `ended`, or None."""
        order = TopologicalSorter(self._before)
        order.prepare()
        running: dict[Future[None], str] = {}
        try:
            with ThreadPoolExecutor(2) as pool:
                while order.is_active() and not self._has_ended:
                    for name in order.get_ready():
                        running[pool.submit(self._stage, name)] = name
                    for done in wait(running, return_when=FIRST_COMPLETED).done:
                        if error := done.exception():
                            self._interrupt()
                            raise error
                        order.done(running.pop(done))
        except BaseException as error:
            ended.put(error)
        else:
            ended.put(None)

    def _interrupt(self) -> None:
        """End the stages that run, and let no other start."""
        self._has_ended = True
        for cursor in list(self._cursors):
            cursor.interrupt()

    def _stage(self, name: str) -> None:
        """One statement, in the connection of this thread."""
        is_rule, taken = name.startswith("find_"), self._before[name]
        if self._has_ended or (is_rule and taken and taken[0] in self._empty):
            return
        if not hasattr(self._own, "cursor"):
            self._own.cursor = self._new_cursor()
        self._begun.append(name)
        made = self._own.cursor.execute(f"CREATE TABLE {self._prefix}{name} AS {self._calls[name]}")
        if is_rule:
            self._ran.append(name)
        elif made.fetchone() == (0,):
            self._empty.add(name)

    def _new_cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = without_progress_bar(self._session.shared.cursor())
        self._cursors.append(cursor)
        return cursor

    def _given(self, names: list[str]) -> str:
        return ", ".join(self._jobs if name == GIVEN else self._prefix + name for name in names)
