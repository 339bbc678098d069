"""Diagnoses jobs: the function `hta_sql.doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from hta_sql.archive import Archive
from hta_sql.diagnosis.diagnoses import Diagnoses
from hta_sql.diagnosis.read import diagnoses_of
from hta_sql.diagnosis.subject import opened, subject_of
from hta_sql.errors import BadParameter


def doctor(
    *paths: str | Path | Archive,
    only_jobs: Iterable[str] | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Diagnoses:
    """Find what holds jobs back: what to fix first, with evidence, advice and gain.

    Traces are ingested into a folder below $XDG_CACHE_HOME/hta_sql (or ~/.cache/hta_sql). The next
    call with the same paths reads only traces that are new or changed.

    Args:
        paths: Archives; or files, folders, patterns or URLs of traces; or one open archive.
        only_jobs: Jobs to diagnose. The default is all.
        report: Is called with each progress line and warning.

    Returns:
        Diagnoses, one Diagnosis per job. `print` shows what `hta-sql doctor` shows, and `to_dict()`
        has all of it for programs.

    Raises:
        IngestError: A path does not exist, or no trace can be read.
        ArchiveError: An archive cannot be read.
        BadParameter: There is no path, or no such job.

    Examples:
        >>> found = hta_sql.doctor("traces/")
        >>> print(found)
        >>> found[0].findings[0].title
    """
    if len(paths) == 1 and isinstance(paths[0], Archive):
        subject = subject_of(paths[0], _names(only_jobs))
        return Diagnoses(diagnoses_of(subject), subject.failed)
    if any(isinstance(path, Archive) for path in paths):
        raise BadParameter("an open archive is given alone; give the paths of several archives")
    return diagnosed(paths, only_jobs, report)


def diagnosed(
    paths: Iterable[str | Path],
    only_jobs: Iterable[str] | None,
    report: Callable[[str], None],
    **callbacks: Callable[..., None],
) -> Diagnoses:
    """The same with the other callbacks of ingest."""
    paths = list(paths)
    if not paths:
        raise BadParameter("no path given; give an archive or traces")
    subject = opened(paths, _names(only_jobs), report, **callbacks)
    with subject.archive:
        return Diagnoses(diagnoses_of(subject), subject.failed)


def _names(only_jobs: Iterable[str] | None) -> Iterable[str] | None:
    return [only_jobs] if isinstance(only_jobs, str) else only_jobs
