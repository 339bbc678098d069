"""Which jobs of its archives a session reads now."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hta_sql.store.sources import Source

# Up to so many, it costs more to look for the files of one than to leave out those of the others.
FEW_JOBS = 2


class JobSelection:
    """The part of a session that chooses jobs; None stands for all jobs.

    `only_jobs` are those that it was opened for, and `seen_jobs` those whose files it reads now.
    """

    only_jobs: frozenset[str] | None
    seen_jobs: frozenset[str] | None
    sources: list[Source]
    folder_beside: Path | None
    is_lent: bool
    # Whether the files that it should read are known; whether no file is damaged; and whether what
    # queries share is kept in memory.
    has_sources: bool
    is_whole: bool
    is_small: bool
    facts: dict[Any, Any]  # what was found out about the archives' files

    def load(self, names: Iterable[str] = (), *, is_one_of_many: bool = False) -> None:
        raise NotImplementedError

    def see(self, jobs: Iterable[str] | None) -> None:
        """Read the files of these jobs, as far as the archives were opened for them.

        On a small archive, or of few jobs, all stay if all are seen, since what they share is made.
        """
        seen = self.chosen(jobs)
        are_few = self.only_jobs is not None and len(self.only_jobs) <= FEW_JOBS
        if (self.is_small or are_few) and self.is_whole and self.seen_jobs == self.only_jobs:
            return
        if seen != self.seen_jobs and not self.is_lent:
            self.seen_jobs = seen
            self.has_sources = False

    def chosen(self, jobs: Iterable[str] | None) -> frozenset[str] | None:
        """These jobs, as far as the archives were opened for them; None stands for all jobs."""
        if jobs is None:
            return self.only_jobs
        jobs = named(jobs)
        return jobs if self.only_jobs is None else self.only_jobs & jobs

    @contextmanager
    def narrowed(self, jobs: Iterable[str] | None) -> Iterator[None]:
        """Read only these jobs inside a `with` block."""
        before = self.only_jobs
        try:
            self.only_jobs = self.chosen(jobs)
            self.see(None)
            self.load()
            yield
        finally:
            self.only_jobs = before
            self.see(None)  # the next question looks for the files

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Inside a `with` block, critical paths are stored in a temporary folder, which is read
        as a part of the archives. The archives stay as they are."""
        with tempfile.TemporaryDirectory(prefix="hta-sql-") as folder:
            self.folder_beside = Path(folder)
            source = Source(self.folder_beside)
            self.sources.append(source)
            self.look_again()
            try:
                yield
            finally:
                self.folder_beside = None
                self.sources.remove(source)
                source.close()
                self.look_again()

    def look_again(self) -> None:
        """Find out about the files again when they are needed."""
        self.facts.clear()
        self.has_sources = False


def named(jobs: Iterable[str]) -> frozenset[str]:
    """The jobs as a set. A single name is one job."""
    return frozenset([jobs] if isinstance(jobs, str) else jobs)
