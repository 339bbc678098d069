"""Finds trace files as HTA does, and reads them into an archive."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from hta_sql.compat.given import number
from hta_sql.errors import BadParameter, HtaSqlError, IngestError, above_package
from hta_sql.ingestion.find import folder_name
from hta_sql.ingestion.ingest import ingest

# What HTA and this package write beside the traces. It is not read as a trace of its own.
WRITTEN = ("overlaid_", "_with_counters")

# What the messages of ingest advise on the command line, and what a script can do.
ADVICE = {
    "name another job with --job, or replace it with --force": "give another archive=",
    "name another job with --job": "read its folder into another archive=",
    "(--rank N=FILE) or job (--job NAME)": "(trace_files={N: file})",
    "--force --rank N=": "trace_files={N: file} for ",
    "--rank N=FILE": "trace_files={N: file}",
}

Files = Mapping[int, str | PathLike[str]] | Iterable[str | PathLike[str]]


def named_files(
    trace_files: Files | None, trace_dir: str | PathLike[str]
) -> tuple[list[Path], dict[int, Path]]:
    """The files without and with a given rank. Without `trace_files`, all traces of the folder."""
    folder = Path(trace_dir).expanduser()
    if trace_files is None:
        if not folder.is_dir():
            raise IngestError(f"{folder}: no such folder of traces")
        files = sorted(file for file in folder.iterdir() if file.name.endswith((".json", ".gz")))
        files = [file for file in files if not any(part in file.name for part in WRITTEN)]
        if not files:
            raise IngestError(f"{folder}: no file here ends in .json or .gz")
        return files, {}
    if isinstance(trace_files, str | PathLike) or not isinstance(trace_files, Iterable):
        raise BadParameter(f"trace_files is {trace_files!r}; give a list of files")
    if isinstance(trace_files, Mapping):
        return [], {
            number("a rank of trace_files", rank): _inside(folder, file)
            for rank, file in trace_files.items()
        }
    return [_inside(folder, file) for file in trace_files], {}


def _inside(folder: Path, file: str | PathLike[str]) -> Path:
    path = Path(file).expanduser()
    return path if path.is_absolute() or path.exists() else folder / path


def read_traces(
    trace_files: Files | None, trace_dir: str | PathLike[str], archive: Path
) -> tuple[str, dict[int, Path]]:
    """Read the files into a job of the archive; returns the job and the file of each rank.

    The job has the name of the folder of the first file. Warns of files that are no traces. Raises
    IngestError if none is a trace, or if two have the same rank.
    """
    files, ranks = named_files(trace_files, trace_dir)
    given = [*files, *ranks.values()]
    if not given:
        raise IngestError(f"trace_files is {trace_files!r}; give at least one file")
    job = folder_name(given[0].parent)
    lines: list[str] = []
    try:
        done = ingest(files, archive, job=job, ranks=ranks, report=lines.append)
    except HtaSqlError as error:
        raise type(error)(_for_scripts(str(error))) from error
    for outcome in done.traces:
        # Other JSON in a folder is no mistake.
        is_other = trace_files is None and (outcome.error or "").startswith("not a Kineto trace")
        if outcome.status == "failed" and not is_other:
            lines.append(f"{outcome.path}: {outcome.error}")
    for line in lines:
        warnings.warn(_for_scripts(line), stacklevel=above_package())
    found = {
        outcome.rank: Path(outcome.path) for outcome in done.traces if outcome.status != "failed"
    }
    if not found:
        raise IngestError(f"{', '.join(map(str, given))}: no trace can be read")
    return job, dict(sorted(found.items()))


def _for_scripts(line: str) -> str:
    """The line with advice for a script instead of the command line."""
    for option, argument in ADVICE.items():
        line = line.replace(option, argument)
    return line
