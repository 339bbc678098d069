"""Finds the two jobs of a comparison, and joins them in one archive."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.archive import Archive
from hta_sql.database.selection import unknown
from hta_sql.errors import ArchiveError, BadParameter, IngestError
from hta_sql.places.storage import holds_archive, is_remote, is_url, place
from hta_sql.store.layout import folder_for, in_job
from hta_sql.store.manifest import Manifest
from hta_sql.store.sources import Source

if TYPE_CHECKING:
    from hta_sql.places.storage import Place


def located(given: str | Path, scratch: Path, report: Callable[[str], None]) -> tuple[Place, str]:
    """The archive and job that `given` names; traces are ingested into `scratch` first."""
    path, job = _archive_and_job(str(given))
    if not holds_archive(path):
        from hta_sql.ingestion.ingest import ingest

        report(f"ingesting {path}")
        summary = ingest([path], scratch, report=report)
        for outcome in summary.traces:
            if outcome.error:
                report(f"{outcome.path}: failed: {outcome.error}")
        if all(outcome.error for outcome in summary.traces):
            raise IngestError(f"{path}: none of its traces could be read")
        path = scratch
    jobs = sorted({row["job"] for row in Manifest(path).rows()})
    if job is None and len(jobs) == 1:
        return path, jobs[0]
    if job in jobs:
        return path, job
    some = ", ".join(jobs[:10]) + (", …" if len(jobs) > 10 else "")
    if job is None:
        raise ArchiveError(
            f"{given} has {len(jobs)} jobs ({some or 'none'}); choose one with {given}::JOB"
        )
    raise BadParameter(unknown(str(path), "job", [job], jobs))


def _archive_and_job(text: str) -> tuple[Place, str | None]:
    """The path before `::`, and the job after it. A job's name may contain `::` too."""
    if is_url(text):
        before, _, job = text.partition("::")
        return place(before), job or None
    path, job = Path(text), None
    parts = text.split("::")
    for at in range(1, len(parts)):
        before = Path("::".join(parts[:at]))
        if not path.exists() and before.exists():
            path, job = before, "::".join(parts[at:])
    if not text or not path.exists():
        raise ArchiveError(f"{path}: no such file or folder; give an archive or traces")
    return path, job


def together(root: Path, *jobs: tuple[Place, str, str]) -> Iterable[Path | Source]:
    """Jobs (archive, name, new name) as one archive, without a copy of their data."""
    on_disk = [(source, old, new) for source, old, new in jobs if not is_remote(source)]
    if on_disk:
        _link(root, *on_disk)
        yield root
    for source, old, new in jobs:
        if is_remote(source):
            yield Source(source, names={old: new})


def _link(root: Path, *jobs: tuple[Path, str, str]) -> None:
    """Make an archive of jobs that are on disk, with links to their data."""
    root.mkdir()
    for source, old, new in jobs:
        for found in source.resolve().glob(f"*/{_escaped(folder_for(old))}"):
            target = root / found.parent.name / folder_for(new)
            target.parent.mkdir(exist_ok=True)
            target.symlink_to(found, target_is_directory=True)
    Manifest(root).change(
        lambda row: True,
        (
            in_job(row, new)
            for source, old, new in jobs
            for row in Manifest(source).rows()
            if row["job"] == old
        ),
    )


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def check(archive: Archive, base_job: str, test_job: str, lists: dict[str, list[int]]) -> None:
    """Refuse ranks or steps that a job does not have, with BadParameter.

    Without this, all their work would look deleted.
    """
    for side, job in (("base", base_job), ("test", test_job)):
        for what, table in (("rank", "traces"), ("step", "steps")):
            chosen = lists.get(f"{side}_{what}s")
            if chosen is None:
                continue
            there = archive.sql(
                f"SELECT DISTINCT {what} AS n FROM {table} WHERE job = $job ORDER BY n",
                {"job": job},
            )["n"].to_pylist()
            if missing := [n for n in chosen if n not in there]:
                raise BadParameter(unknown(f"job {job!r}", what, missing, there))
