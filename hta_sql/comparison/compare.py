"""Opens two jobs for a comparison: archives, jobs of an archive, or traces."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from hta_sql.archive import Archive
from hta_sql.comparison.comparison import Comparison
from hta_sql.comparison.sides import check, located, together


def compare(
    base: str | Path,
    test: str | Path,
    *,
    base_ranks: Iterable[int] | None = None,
    test_ranks: Iterable[int] | None = None,
    base_steps: Iterable[int] | None = None,
    test_steps: Iterable[int] | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Open two jobs for a comparison.

    Each is an archive, a job of an archive (`ARCHIVE::job`), or a folder or file of traces.
    Traces are ingested into a temporary folder, which is deleted when the Comparison is closed.

    Args:
        base: The job from before.
        test: The job in question. With ranks or steps selected, it may be the same job.
        base_ranks: Ranks of `base`. The default is all.
        test_ranks: Ranks of `test`. The default is all.
        base_steps: Steps of `base`. The default is all.
        test_steps: Steps of `test`. The default is all.
        report: Is called with each progress line and warning.

    Returns:
        Comparison, whose methods are the queries that compare. Close it, or use `with`.

    Raises:
        ArchiveError: `base` or `test` is no archive and no traces, or has several jobs and names
            none of them.
        BadParameter: An archive or job does not have the job, rank or step that is named.
        IngestError: Traces cannot be read.

    Examples:
        >>> with hta_sql.compare("nightly::monday", "nightly::tuesday") as two:
        ...     print(two.headline)
        ...     two.kernel_diff(short_names=True)
    """
    scratch = tempfile.TemporaryDirectory(prefix="hta-sql-")
    folder = Path(scratch.name)
    try:
        base_root, base_job = located(base, folder / "base", report)
        test_root, test_job = located(test, folder / "test", report)
        if base_root.resolve() == test_root.resolve():
            archive = Archive(base_root, only_jobs=[base_job, test_job])
        else:
            names = (base_job, test_job)
            if base_job == test_job:
                base_job, test_job = f"{base_job} (base)", f"{test_job} (test)"
            archive = Archive(
                *together(
                    folder / "both",
                    (base_root, names[0], base_job),
                    (test_root, names[1], test_job),
                )
            )
        selection = {
            "base_ranks": base_ranks,
            "test_ranks": test_ranks,
            "base_steps": base_steps,
            "test_steps": test_steps,
        }
        lists = {name: list(chosen) for name, chosen in selection.items() if chosen is not None}
        check(archive, base_job, test_job, lists)
        return Comparison(archive, base_job, test_job, lists, scratch)
    except BaseException:
        scratch.cleanup()
        raise
