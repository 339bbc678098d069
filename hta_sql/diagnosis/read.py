"""Asks an archive for what a diagnosis shows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.attach import without_progress_bar
from hta_sql.database.findings import STAGED, compute_findings
from hta_sql.diagnosis.job import Diagnosis, Facts, Finding, Note, shell_word
from hta_sql.diagnosis.subject import Subject
from hta_sql.errors import from_duckdb

Row = dict[str, Any]


def diagnoses_of(subject: Subject) -> list[Diagnosis]:
    """The diagnoses of the subject's jobs, by name."""
    found, facts, notes = _answers(subject)
    findings, weak = defaultdict(list), defaultdict(list)
    for row in found:
        findings[row["job"]].append(row)
    for row in notes:
        weak[row["job"]].append(row)
    is_only_job = subject.jobs is None and len(facts) == 1
    return [
        diagnosis(row, findings[row["job"]], weak[row["job"]], subject.words, is_only_job)
        for row in facts
    ]


def diagnosis(
    facts: Row, findings: Iterable[Row], notes: Iterable[Row], words: str, is_only_job: bool
) -> Diagnosis:
    """A diagnosis from rows of job_splits, findings and trace_quality."""
    return Diagnosis(
        Facts(**facts),
        [_finding(row, words, is_only_job) for row in findings],
        [Note(**row) for row in notes],
        words,
        is_only_job,
    )


def _finding(row: Row, words: str, is_only_job: bool) -> Finding:
    """A finding, with the archives in the command that shows more."""
    see = row["see"].replace(" ARCHIVE", f" {words}", 1)
    if is_only_job:
        see = see.replace(f" --only-jobs {shell_word(row['job'])}", "", 1)
    return Finding(**row | {"see": see, "evidence_numbers": json.loads(row["evidence_numbers"])})


def _answers(subject: Subject) -> list[list[Row]]:
    """The rows of findings, job_splits and trace_quality, asked at the same time.

    Planning takes most of the time of these statements on small archives, and one statement is
    planned by one thread.
    """
    session, quality = subject.archive.session, Catalog.load().find("trace_quality").macro
    statements = ["FROM job_splits($jobs::VARCHAR[])", f"FROM {quality}(only_jobs := $jobs)"]
    session.see(subject.jobs)
    session.load(["findings_v1", "job_splits", quality], is_one_of_many=True)
    cursors = [session.shared.cursor() for _ in statements]
    with session.unmoved(), ThreadPoolExecutor(len(statements)) as pool:
        try:
            asked = [
                pool.submit(_rows, cursor, sql, {"jobs": subject.jobs})
                for cursor, sql in zip(cursors, statements, strict=True)
            ]
            compute_findings(session, subject.jobs)
            found = _rows(session.con, STAGED["findings_v1"], {"only_jobs": subject.jobs})
            return [found, *(future.result() for future in asked)]
        except BaseException:  # such as Ctrl-C: the other statements are of no use
            for cursor in cursors:
                cursor.interrupt()
            raise


def _rows(
    con: duckdb.DuckDBPyConnection, sql: str, values: dict[str, Any] | None = None
) -> list[Row]:
    try:
        done = without_progress_bar(con).execute(sql, values)
        names = [column[0] for column in done.description]
        return [dict(zip(names, row, strict=True)) for row in done.fetchall()]
    except duckdb.Error as error:
        raise from_duckdb(error) from error
