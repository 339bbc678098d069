"""The report: one HTML file about a job, which opens anywhere without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.errors import HtaSqlError
from hta_sql.export.file import new_file, refuse_inside
from hta_sql.report.page import page
from hta_sql.report.subject import Subject
from hta_sql.report.write import written_sections

if TYPE_CHECKING:
    from hta_sql.archive import Archive

__all__ = ["plot", "write_report"]


def write_report(
    run: Archive,
    out: str | Path,
    *,
    job: str | None = None,
    base: str | None = None,
    step: int | None = None,
    progress: Callable[[str, int, int], None] = lambda title, done, total: None,
) -> list[str]:
    """Write the report on a job to `out`; lines on what could not be told.

    `job` is the one in the archive unless told; it is compared with the job `base`. The timeline
    is of `step`, or of the one in the middle. `progress` gets a section's title, how many are done
    and of how many. HtaSqlError where there is no such job, step or folder.
    """
    target = Path(out)
    refuse_inside(run, target)
    if target.is_dir():
        raise HtaSqlError(f"{out}: is a folder; name a file")
    subject = Subject.of(run, job, base, step)
    # Opened before the work, which may take minutes; in its place when all is written.
    jobs = [subject.job] + ([subject.base] if subject.base else [])
    with new_file(target) as file, run.narrowed(jobs):
        sections = written_sections(subject, progress)
        file.write(page(subject, sections).encode())
    return [f"{section.title}: {problem}" for section in sections for problem in section.problems]
