"""Read traces into an archive: find files and their ranks, read in parallel, publish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from hta_sql.database.roots import new_or_old_root
from hta_sql.engines.start import start
from hta_sql.ingestion.capture_files import named_files
from hta_sql.ingestion.find import find_candidates, with_told
from hta_sql.ingestion.own_steps import check_pattern
from hta_sql.ingestion.summary import IngestSummary
from hta_sql.ingestion.take import of_one_job, take
from hta_sql.ingestion.tasks import Outcome
from hta_sql.store.jobs import check_name


def ingest(
    traces: str | Path | Iterable[str | Path],
    archive: str | Path,
    *,
    job: str | None = None,
    tags: Mapping[str, str] | None = None,
    workers: int | None = None,
    force: bool = False,
    steps: str | None = None,
    graph_captures: Iterable[str | Path] = (),
    ranks: Mapping[int, str | Path | Iterable[str | Path]] | None = None,
    engine: str = "local",
    address: str | None = None,
    report: Callable[[str], None] = lambda line: None,
    planned: Callable[[Mapping[str, int]], None] = lambda files: None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    progress: Callable[[int, int], None] | None = None,
) -> IngestSummary:
    """Read Kineto traces into an archive of Parquet files, which is created if there is none.

    Unchanged traces are skipped, changed ones replaced. Execution traces and memory timelines
    among the files are attached to the traces of their job. A file that fails is recorded in the
    summary and does not stop the others.

    Args:
        traces: Files, folders, patterns or URLs; or CSV and Parquet files that list traces (column
            path, and optionally job and rank; all other columns are tags).
        archive: The archive, a folder or URL.
        job: Puts all traces into this job, except those for which a list gives another. The default
            is one job per folder, with the folder's name.
        tags: Added to each trace, such as {"model": "llama"}. Without it, unchanged files keep
            their tags; with it, their tags are replaced without reading the file again.
        workers: Processes, which read one trace each. The default is one per core if memory allows,
            and fewer if the traces are so small that a process takes longer to start.
        force: Reads unchanged files again.
        steps: A regular expression (RE2). The annotations or operators whose names it matches, or
            else the Python functions, are the steps of these traces. A group in it is the number of
            the step, such as "^iteration (\\d+)". The default is ProfilerStep#N, or else the
            annotations of known frameworks.
        graph_captures: Capture traces of the CUDA or HIP graphs that the traces replay: files,
            folders or patterns. Those in a folder `capture_traces` beside a trace are found.
        ranks: Maps a rank to the file, or files, that do not give their rank.
        engine: "local", or "ray" for tasks on a Ray cluster.
        address: The cluster's address. The default is $RAY_ADDRESS, or a cluster started here.
        report: Is called with each warning, a line of text.
        planned: Is called once, before the first file is read, with the number of files per job.
        finished: Is called with each Outcome.
        progress: Is called with the bytes read and the bytes in all. The default shows them in a
            notebook, and nothing elsewhere.

    Returns:
        IngestSummary, with one Outcome per file.

    Raises:
        BadParameter: `steps` is no regular expression, or `job` cannot be a name.
        IngestError: Nothing can be read; or two traces claim the same rank of the only job, in
            which case nothing is written. If there are several jobs or a list, such traces fail
            instead.
        ArchiveError: `archive` is no archive, or cannot be written.

    Examples:
        >>> done = hta_sql.ingest("traces/", "archive", tags={"team": "vision"})
        >>> done.failed
        0
    """
    check_pattern(steps)
    if job is not None:
        check_name(job)
    working = start(engine, address)
    archive = new_or_old_root(archive)
    inputs = [traces] if isinstance(traces, str | Path) else list(traces)
    given = list(told_files(ranks or {}))
    candidates = find_candidates([*inputs, *(path for _, path in given)], job)
    with working:
        return take(
            with_told(candidates, given, tags or {}),
            archive,
            working,
            workers=workers,
            force=force,
            steps=steps,
            graph_captures=list(named_files(graph_captures)),
            is_strict=of_one_job(candidates),
            report=report,
            planned=planned,
            finished=finished,
            progress=progress,
        )


def told_files(
    ranks: Mapping[int, str | Path | Iterable[str | Path]],
) -> Iterator[tuple[int, str | Path]]:
    """The pairs of rank and file that the user gives."""
    for rank, paths in ranks.items():
        for path in [paths] if isinstance(paths, str | Path) else paths:
            yield rank, path
