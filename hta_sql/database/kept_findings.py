"""The findings that a session has computed. They are kept until files of the archives change."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import duckdb

TABLE, JOBS = "main.computed_findings", "main.jobs_with_computed_findings"


class KeptFindings:
    """The tables computed_findings and jobs_with_computed_findings of a connection.

    They take the place of empty views, see sql/relations/findings/known_findings.sql.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._has_tables = False
        self._jobs: set[str] = set()

    def lacking(self, jobs: Collection[str]) -> list[str]:
        """Those of the jobs whose findings are not known."""
        return sorted(set(jobs) - self._jobs)

    def add(self, jobs: Iterable[str], rows: str) -> None:
        """Add the findings of these jobs: all rows of a SELECT."""
        jobs = list(jobs)
        self.make_tables()
        self._con.execute(f"INSERT INTO {TABLE} BY NAME {rows}")
        self._con.execute(f"INSERT INTO {JOBS} SELECT unnest($1::VARCHAR[])", [jobs])
        self._jobs.update(jobs)

    def forget(self) -> None:
        if self._jobs:
            self._con.execute(f"TRUNCATE {TABLE}; TRUNCATE {JOBS}")
            self._jobs.clear()

    def make_tables(self) -> None:
        """Put tables in place of the views, if they are not there."""
        if not self._has_tables:
            self._con.execute(
                "".join(
                    f"CREATE TABLE {table}_rows AS FROM {table}; DROP VIEW {table}; "
                    f"ALTER TABLE {table}_rows RENAME TO {table.removeprefix('main.')};"
                    for table in (TABLE, JOBS)
                )
            )
            self._has_tables = True
