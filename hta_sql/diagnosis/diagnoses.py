"""What `hta_sql.doctor` returns: the diagnoses of jobs, in each format."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from hta_sql.diagnosis.job import Diagnosis
from hta_sql.diagnosis.text import screen
from hta_sql.diagnosis.words import answer


@dataclass(frozen=True, repr=False)
class Diagnoses(Sequence[Diagnosis]):
    """The diagnoses of jobs, by name, as :func:`hta_sql.doctor` returns them.

    It is a sequence with one Diagnosis per job. `print` shows what `hta-sql doctor` shows.
    `failed` is the number of traces that could not be read.
    """

    jobs: Sequence[Diagnosis]
    failed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """All that was found, as dictionaries and lists; times are in integer nanoseconds."""
        return {
            "failed_count": self.failed,
            "jobs": [one.to_dict() | {"answer": answer(one)} for one in self.jobs],
        }

    @overload
    def __getitem__(self, at: int) -> Diagnosis: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Diagnosis]: ...
    def __getitem__(self, at: int | slice) -> Diagnosis | Sequence[Diagnosis]:
        return self.jobs[at]

    def __len__(self) -> int:
        return len(self.jobs)

    def __iter__(self) -> Iterator[Diagnosis]:
        return iter(self.jobs)

    def __str__(self) -> str:
        return screen(self.jobs, shutil.get_terminal_size((100, 0)).columns)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from hta_sql.diagnosis.html import fragment  # not at the top: most do not need it

        return fragment(self.jobs)
