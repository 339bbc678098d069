"""The function `hta_sql.report`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from hta_sql.archive import Archive
from hta_sql.show.progress import notebook_line


def report(
    archive: Archive | str | os.PathLike[str],
    out: str | os.PathLike[str] = "report.html",
    *,
    job: str | None = None,
    base: str | None = None,
    step: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Path:
    """Write a report on a job as one HTML file, which opens in any browser without a network.

    It needs the extra viz.

    Args:
        archive: The archive: open, or a folder or URL.
        out: The file to write.
        job: The job to report. The default is the archive's only job; of two, it is the last by
            name, and `base` is the other.
        base: A job to compare it with.
        step: The step that the picture shows first. The default is a typical one.
        progress: Is called with the title of the next section, the number of sections done and the
            number of sections. The default shows them in a notebook, and nothing elsewhere.

    Returns:
        Path of the file.

    Raises:
        HtaSqlError: There is no such job, step or folder.
        ArchiveError: The archive cannot be read.

    Warns:
        UserWarning: A section is incomplete.

    Examples:
        >>> hta_sql.report("archive", "tuesday.html", job="tuesday", base="monday")
    """
    from hta_sql.report import write_report  # not at the top: it imports this module

    line = notebook_line()
    progress = progress or (
        lambda title, done, total: line(f"report: {done} of {total}, {title}", False)
    )
    out = Path(out)
    run = archive if isinstance(archive, Archive) else Archive(archive)
    try:
        problems = write_report(run, out, job=job, base=base, step=step, progress=progress)
    finally:
        if run is not archive:
            run.close()
    for problem in problems:
        warnings.warn(problem, stacklevel=2)
    line(f"report: {out}", True)
    return out


class PackageAndFunction(ModuleType):
    """The class of the package hta_sql.report, which has the same name as the function.

    An import of the package puts it in the place of a function `hta_sql.report`. So the package
    itself can be called.
    """

    __call__ = staticmethod(report)
