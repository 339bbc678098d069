"""Opens what a diagnosis is about: archives as they are, and traces after an ingest."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hta_sql.archive import Archive
from hta_sql.database.roots import new_or_old_root
from hta_sql.database.selection import check_selection
from hta_sql.errors import IngestError
from hta_sql.places.cache import cache_folder
from hta_sql.places.storage import absolute, holds_archive, place

if TYPE_CHECKING:
    from hta_sql.ingestion.summary import IngestSummary


@dataclass
class Subject:
    """Open archives, and their names in commands. `failed` counts traces that were not read."""

    archive: Archive
    words: str
    jobs: list[str] | None  # None: all
    failed: int = 0


def opened(
    paths: Iterable[str | Path],
    only_jobs: Iterable[str] | None,
    report: Callable[[str], None],
    **callbacks: Callable[..., None],
) -> Subject:
    """Open archives, and traces as an archive in a cache folder, whose name goes to `report`.

    `callbacks` are those of ingest.

    Raises IngestError or ArchiveError if a path is neither, and BadParameter for an unknown job.
    """
    archives, traces = [], []
    for path in paths:
        (archives if holds_archive(place(path)) else traces).append(path)
    words = [shlex.quote(str(path)) for path in archives]
    failed = 0
    if traces:
        folder = cache_folder() / "doctor" / _name(traces)
        failed = _ingest(traces, folder, report=report, **callbacks)
        archives.append(folder)
        words.append(_short(folder))
        report(f"archive of these traces: {_short(folder)}")
    archive = Archive(*archives)
    try:
        return Subject(archive, " ".join(words), _checked(archive, only_jobs), failed)
    except BaseException:
        archive.close()
        raise


def subject_of(archive: Archive, only_jobs: Iterable[str] | None) -> Subject:
    """An archive that is open and stays open, as far as it was opened for jobs."""
    archive.session.look_anew(on_disk=True)
    chosen = archive.session.chosen(_checked(archive, only_jobs))
    words = [shlex.quote(str(root)) for root in archive.session.roots]
    return Subject(archive, " ".join(words), None if chosen is None else sorted(chosen))


def _checked(archive: Archive, only_jobs: Iterable[str] | None) -> list[str] | None:
    """The names of the jobs; BadParameter for one that the archive does not have."""
    jobs = None if only_jobs is None else list(dict.fromkeys(only_jobs))
    check_selection(archive.session, {"only_jobs": jobs})
    return jobs


def _name(traces: list[str | Path]) -> str:
    """A name for these traces: the same for the same paths in any order."""
    paths = sorted({str(absolute(path)) for path in traces})
    return hashlib.sha256("\0".join(paths).encode(errors="surrogateescape")).hexdigest()[:12]


def _short(folder: Path) -> str:
    """The folder as a word of a command, with ~ for the home folder."""
    home = os.path.expanduser("~")
    text = str(folder)
    if home != "/" and text.startswith(home + "/"):
        return "~/" + shlex.quote(text[len(home) + 1 :])
    return shlex.quote(text)


def _ingest(traces: list[str | Path], folder: Path, **callbacks: Callable[..., None]) -> int:
    """Bring the archive in `folder` up to date, and return how many files could not be read."""
    # Not at the top: archives do not need it.
    from hta_sql.engines.start import start
    from hta_sql.ingestion.find import find_candidates
    from hta_sql.ingestion.take import of_one_job, take

    def ingest() -> IngestSummary:
        found = find_candidates(traces, None)
        root = new_or_old_root(folder)
        with start() as engine:
            strict = of_one_job(found)
            return take(found, root, engine, is_strict=strict, has_shell=False, **callbacks)

    summary = ingest()
    read = [outcome for outcome in summary.traces if not outcome.error]
    if not read:
        [first, *_] = [*summary.traces, *summary.attachments]
        raise IngestError(f"no trace could be read: {first.path}: {first.error or 'is no trace'}")
    if gone := _jobs_of_others(folder, summary):
        from hta_sql.keeping.drop import drop

        drop(folder, jobs=gone)
        ingest()
    return summary.failed


def _jobs_of_others(folder: Path, summary: IngestSummary) -> list[str]:
    """The jobs in the archive that have traces of files that are gone."""
    from hta_sql.ingestion.find import shown
    from hta_sql.store.manifest import Manifest

    there = {shown(outcome.path) for outcome in summary.outcomes}
    rows: list[dict[str, Any]] = [*Manifest(folder).rows(), *Manifest(folder, "attachments").rows()]
    return sorted({row["job"] for row in rows if row["path"] not in there})
