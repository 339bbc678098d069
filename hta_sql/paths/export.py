"""Write a rank's trace with its critical path, as Chrome's trace format, for Perfetto."""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import orjson

from hta_sql.errors import HtaSqlError
from hta_sql.paths.sql import set_variables, text

if TYPE_CHECKING:
    import duckdb

    from hta_sql.archive import Archive

LINES = 20_000
COMPRESSION = 5


def export_critical_path(
    run: Archive,
    out: Path,
    only_jobs: Iterable[str] | None = None,
    only_ranks: Iterable[int] | None = None,
    only_windows: Iterable[str] | None = None,
    only_critical: bool = False,
) -> int:
    """Write the trace of the one rank and window that is chosen; the number of events.

    A name that ends in .gz is compressed. HtaSqlError where none or several have a path.
    """
    job, rank, window = _chosen(run, only_jobs, only_ranks, only_windows)
    con = run._con
    [(metadata, start_ns)] = con.execute(
        "SELECT t.metadata, (SELECT min(e.start_ns) FROM events AS e "
        "WHERE e.job = t.job AND e.rank = t.rank) FROM traces AS t WHERE t.job = ? AND t.rank = ?",
        [job, rank],
    ).fetchall()
    keys = orjson.loads(metadata)
    base_ns = keys.get("baseTimeNanoseconds")
    if not isinstance(base_ns, int) or base_ns <= 0:
        base_ns = max(0, start_ns - start_ns % 1_000_000_000)
    set_variables(
        con, path_job=job, path_rank=rank, path_window=window, export_base_ns=base_ns,
        export_all=not only_critical,
    )  # fmt: skip
    head = keys | {"baseTimeNanoseconds": base_ns, "displayTimeUnit": "ns"}
    count = 0
    with _new_file(out) as file:
        file.write(orjson.dumps(head)[:-1] + b',"traceEvents":[')
        for batch in _lines(con):
            file.write((b",\n" if count else b"\n") + ",\n".join(batch).encode())
            count += len(batch)
        file.write(b"\n]}\n")
    return count


def _chosen(
    run: Archive,
    jobs: Iterable[str] | None,
    ranks: Iterable[int] | None,
    windows: Iterable[str] | None,
) -> tuple[str, int, str]:
    found = run.sql(
        """
        SELECT DISTINCT p.job, unnest(p.ranks) AS rank, p.path_window
        FROM critical_paths AS p
        WHERE ($jobs::VARCHAR[] IS NULL OR list_contains($jobs, p.job))
          AND ($windows::VARCHAR[] IS NULL OR list_contains($windows, p.path_window))
        ORDER BY ALL
        """,
        {"jobs": jobs and list(jobs), "windows": windows and list(windows)},
    ).to_pylist()
    chosen = set(ranks) if ranks is not None else None
    paths = [tuple(row.values()) for row in found if chosen is None or row["rank"] in chosen]
    if not paths:
        raise HtaSqlError("no such critical path is in the archive; hta-sql critical-path ARCHIVE "
                          "computes it")
    for place, (what, option) in enumerate(
        [("jobs", "jobs"), ("ranks", "ranks"), ("windows", "windows")]
    ):
        values = sorted({path[place] for path in paths})
        if len(values) > 1:
            shown = ", ".join(map(str, values[:6])) + (", …" if len(values) > 6 else "")
            raise HtaSqlError(f"{len(values)} {what} have a critical path ({shown}); "
                              f"choose one with --only-{option}")
    return paths[0]


def _lines(con: duckdb.DuckDBPyConnection) -> Iterator[list[str]]:
    for name in ("output/export_events", "output/export_path"):
        for batch in con.sql(text(name)).to_arrow_reader(LINES):
            if len(batch):
                yield batch.column("line").to_pylist()


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that has its name once it is whole; what is no file, as a pipe, is written to."""
    target = path.resolve()
    is_file = target.is_file() or not target.exists()
    written = target.with_name(f".{target.name}.{os.getpid()}") if is_file else target
    try:
        raw = written.open("wb")
    except OSError as error:
        raise HtaSqlError(f"{path}: {error.strerror}") from error
    try:
        is_gzip = path.suffix == ".gz"
        with raw, gzip.GzipFile("", "wb", COMPRESSION, raw, mtime=0) if is_gzip else raw as file:
            yield file
        if is_file:
            written.replace(target)
    finally:
        if is_file:
            written.unlink(missing_ok=True)
