"""The report: one HTML file about a job. It opens in any browser, without a network."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.errors import HtaSqlError
from hta_sql.export.file import new_file, refuse_inside
from hta_sql.report.function import PackageAndFunction, report
from hta_sql.report.page import page
from hta_sql.report.path import with_path
from hta_sql.report.subject import Subject, chosen_jobs
from hta_sql.report.write import written_sections

if TYPE_CHECKING:
    from hta_sql.archive import Archive

__all__ = ["plot", "report", "write_report"]


def write_report(
    run: Archive,
    out: str | Path,
    *,
    job: str | None = None,
    base: str | None = None,
    step: int | None = None,
    progress: Callable[[str, int, int], None] = lambda title, done, total: None,
) -> list[str]:
    """Write the report on a job to `out`, and return one line per section that is incomplete.

    `job` is compared with the job `base`, if one is given. Without `job`, the archive must have one
    job, or two: then the last by name is compared with the first. The picture shows `step` first,
    by default a typical one. The report computes a critical path if the archive has none of the
    job; the archive stays as it is. `progress` gets the title of the next section, the number of
    sections done, and the number of all sections. Raises HtaSqlError if the job, the step or the
    folder does not exist.
    """
    target = Path(out)
    refuse_inside(run, target)
    if target.is_dir():
        raise HtaSqlError(f"{out}: is a folder; give a file name")
    job, base = chosen_jobs(run, job, base)
    with run.narrowed([job, base] if base else [job]), run.session.threads.for_our_statements():
        subject = Subject.of(run, job, base, step)
        # Opened before the work, which may take minutes; the file gets its name at the end.
        with new_file(target) as file, with_path(subject):
            sections = written_sections(subject, progress)
            file.write(page(subject, sections).encode())
    return [f"{section.title}: {problem}" for section in sections for problem in section.problems]


# hta_sql.report(...) works after any imports.
sys.modules[__name__].__class__ = PackageAndFunction
__doc__, __signature__ = report.__doc__, inspect.signature(report)
