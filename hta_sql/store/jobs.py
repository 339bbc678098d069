"""The jobs of an archive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hta_sql.catalogue.query import did_you_mean
from hta_sql.errors import ArchiveError, BadParameter
from hta_sql.store.layout import KEYS, LONGEST_FOLDER_BYTES, folder_for
from hta_sql.store.manifest import Manifest

if TYPE_CHECKING:
    from hta_sql.places.storage import Place


def check_name(job: str) -> None:
    """Raise BadParameter for a name that no job can have."""
    if not job:
        raise BadParameter("a job's name must not be empty")
    if len(folder_for(job)) > LONGEST_FOLDER_BYTES:
        name = job if len(job) <= 40 else f"{job[:40]}…"
        raise BadParameter(f"job '{name}': the name is too long for a folder; shorten it")


def check_jobs(archive: Place, jobs: Iterable[str]) -> list[str]:
    """The jobs, each once. Raises ArchiveError if the archive has no such job."""
    there = {row["job"] for table in KEYS for row in Manifest(archive, table).rows()}
    chosen = list(dict.fromkeys(jobs))
    for job in chosen:
        if job not in there:
            names = ", ".join(repr(name) for name in sorted(there)[:3])
            more = ", …" if len(there) > 3 else ""
            raise ArchiveError(
                f"{archive}: no job {job!r}; {did_you_mean(job, there)}"
                + (f"there are {names}{more}" if names else "it has no jobs")
            )
    return chosen
