"""The data files that the manifests of archives list, and which of them are not as listed.

A missing file is a fault, and a file that no manifest lists is not read. Rows of earlier versions
list no files; the folders of their jobs are searched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import ArchiveError
from hta_sql.places.storage import is_remote
from hta_sql.store.checksums import problem_of, remedy
from hta_sql.store.layout import (
    DATA_FILE,
    PATH_TABLES,
    RESULT_FILE,
    TRACE_TABLES,
    folder_for,
    in_sql,
)
from hta_sql.store.sources import MANIFESTS, MOST_JOBS, Source, whereabouts

if TYPE_CHECKING:
    import duckdb

OF_JOBS = {*TRACE_TABLES, *PATH_TABLES}
Files = dict[str, dict[str, list[str]]]


@dataclass
class Lists:
    """The files of each table, for each macro of sources.PATTERNS; and for each macro and table
    with files that are gone or of another size, a line on the first of them.

    `byte_counts` has the bytes of each table's files; None if they are not known.
    """

    files: Files
    faults: dict[tuple[str, str], str] = field(default_factory=dict)
    byte_counts: dict[str, int] | None = field(default_factory=lambda: defaultdict(int))


def lists(
    con: duckdb.DuckDBPyConnection,
    sources: Iterable[Source],
    tables: Iterable[str],
    jobs: Collection[str] | None,
    *,
    no_links: bool = False,
) -> Lists:
    """The files of these jobs, or of all. `con` has the macros `<table>_schema`.

    With `no_links`, a file that a link leads to outside its archive is a fault.
    """
    found = Lists(defaultdict(lambda: defaultdict(list)))
    for source in sources:
        unlisted = _add_listed(con, source, source.chosen(jobs), found, no_links)
        if unlisted:
            found.byte_counts = None
            _add_unlisted(source, list(tables), unlisted, found, no_links)
        for table in MANIFESTS:
            found.files["archive_manifest"][table] += source.manifest(table)
    return found


def _add_listed(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    jobs: Collection[str] | None,
    found: Lists,
    no_links: bool,
) -> dict[str, list[str]]:
    """Add the files that manifests list; returns the jobs of each manifest with rows that list
    none."""
    manifests = {table: file for table in MANIFESTS for file in source.manifest(table)}
    unlisted: dict[str, list[str]] = defaultdict(list)
    if not manifests:
        return unlisted
    asked = " UNION ALL ".join(
        f"SELECT '{table}' AS manifest, job, unnest(coalesce(files, [NULL])) AS file FROM ("
        f"FROM {table}_schema() UNION ALL BY NAME "
        f"FROM read_parquet(${table}, hive_partitioning = false))"
        for table in manifests
    )
    rows = con.execute(
        f"SELECT DISTINCT manifest, job, file.path, file.bytes FROM ({asked}) "
        "WHERE $jobs IS NULL OR list_contains($jobs, job) ORDER BY file.path, job",
        manifests | {"jobs": None if jobs is None else list(jobs)},
    ).fetchall()
    before = None
    for manifest, job, path, size in rows:
        if path is None:
            unlisted[manifest].append(job)
            continue
        macro, table = _place_of(source, job, path)
        if path == before:  # several jobs share a file of results
            continue
        before = path
        found.files[macro][table].append(source.located(path, size))
        if found.byte_counts is not None:
            found.byte_counts[table] += size or 0
        if is_remote(source.root) or (macro, table) in found.faults:
            continue
        file = Path(source.root, path)
        problem = problem_of(file, {"bytes": size}, is_deep=False)
        if no_links and not _is_inside(source, file):
            problem = "is behind a link to another folder"
        if problem:
            found.faults[macro, table] = f"{source.root}: {path} {problem}; {remedy(path)}"
    return unlisted


def _add_unlisted(
    source: Source, tables: list[str], unlisted: dict[str, list[str]], found: Lists, no_links: bool
) -> None:
    """Add the files of jobs with rows that list none. They are all found in their folders, so
    those that other rows of these jobs list are not added twice."""
    has_results = bool(unlisted.pop("stored_results", None))
    of_jobs = sorted({job for of_manifest in unlisted.values() for job in of_manifest})
    there = whereabouts([source], tables, of_jobs)
    is_of_all = len(of_jobs) > MOST_JOBS
    folders = [f"/{folder_for(job)}/" for job in of_jobs]

    def is_found(file: str) -> bool:
        """Whether a file that a manifest lists is found in these folders, too."""
        if not file.startswith(f"{source.root}/"):
            return False
        return is_of_all or "/results/" in file or any(folder in file for folder in folders)

    for macro in ("rank_files", "job_files", *(["result_files"] if has_results else [])):
        for table, paths in there[macro].items():
            listed = [file for file in found.files[macro][table] if not is_found(file)]
            found.files[macro][table] = listed + paths
            if no_links and not is_remote(source.root):
                for path in (Path(file) for pattern in paths for file in glob(pattern)):
                    if not _is_inside(source, path):
                        found.faults[macro, table] = f"{path} is behind a link to another folder"


def _is_inside(source: Source, file: Path) -> bool:
    return file.resolve().is_relative_to(source.root.resolve())


def _place_of(source: Source, job: str, path: str) -> tuple[str, str]:
    """The macro and the table of a data file. Raises ArchiveError for any other path."""
    if any(character in path for character in "*?["):  # DuckDB would read it as a pattern
        pass
    elif of_job := DATA_FILE.fullmatch(path):
        if of_job[1] in OF_JOBS and of_job[2] == folder_for(job):
            return "job_files" if of_job[3] == "ranks" else "rank_files", of_job[1]
    elif result := RESULT_FILE.fullmatch(path):
        return "result_files", in_sql(result[1])
    raise ArchiveError(
        f"{source.root}: its manifest names {path!r} for job {job!r}, which is no data file of it"
    )
