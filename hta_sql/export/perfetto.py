"""Writes ranks side by side on one clock, with counters from the queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.database.sql_files import set_variables
from hta_sql.errors import HtaSqlError
from hta_sql.export.choice import chosen_rank, chosen_ranks
from hta_sql.export.file import check_name, head_of, second_before, write_trace
from hta_sql.export.job_tracks import EXPORTED, job_tracks
from hta_sql.export.sql import FILES, lines, lines_of_events, tables

if TYPE_CHECKING:
    from hta_sql.archive import Archive

# The counters, and the query that each of them shows.
COUNTERS = {
    "queue": "queue_length_series",
    "bandwidth": "memory_bandwidth_series",
    "utilisation": "heatmap",
}
# Values of a rank's busy time: more than the columns of a screen, and few compared to its events.
BUCKETS = 1000
# Ranks that are late by less than this are not shown, since a launch takes as long.
LEAST_LATE_NS = 10_000
# If a clock drifts by more than this by the ends of the exported part, there is a warning.
DRIFT_NS = 10_000
# Perfetto shows this part of a file that is opened there; it keeps what follows `?`, not `#`.
LINK = "https://ui.perfetto.dev/?visStart={from_ns}&visEnd={until_ns}"
# The events whose ids, lanes and counters are in memory at the same time: about 100 MB.
BATCH = 1_000_000

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Part:
    """Which part of the traces is exported; without values, all of it."""

    step: int | None = None
    window_ns: tuple[int, int] | None = None
    kernels_only: bool = False

    @property
    def is_all(self) -> bool:
        return self == Part()


def export_perfetto(
    run: Archive,
    out: Path,
    job: str | None = None,
    only_ranks: Iterable[int] | None = None,
    part: Part = Part(),
    counters: Collection[str] = tuple(COUNTERS),
    categories: bool = False,
    progress: Progress = lambda done, total: None,
    warn: Callable[[str], None] = lambda line: None,
    link: Callable[[str], None] = lambda url: None,
) -> int:
    """Write all ranks of a job, or only `only_ranks`; returns the number of events.

    A single rank stays as it is; several ranks are moved onto the reference rank's clock. With
    `categories`, each GPU activity has its category as the argument `Category`. `link` gets the URL
    at which Perfetto shows the step or window, if the part is one. Raises HtaSqlError if the part
    has no events.
    """
    check_name(out)
    job, ranks = chosen_ranks(run, job, only_ranks)
    return _Export(run, job, ranks, part, counters, categories, progress, warn, link).write(out)


def export_counters(
    run: Archive,
    out: Path,
    job: str | None = None,
    only_ranks: Iterable[int] | None = None,
    counters: Collection[str] = tuple(COUNTERS),
) -> int:
    """Write a rank's trace as it is, followed by counters; returns the number of events."""
    check_name(out)
    job, rank = chosen_rank(run, job, only_ranks)
    return export_perfetto(run, out, job, [rank], counters=counters)


class _Export:
    def __init__(
        self,
        run: Archive,
        job: str,
        ranks: list[int],
        part: Part,
        counters: Collection[str],
        categories: bool,
        progress: Progress,
        warn: Callable[[str], None],
        link: Callable[[str], None],
    ):
        self._run, self._con = run, run.session.con
        self._job, self._ranks, self._part = job, ranks, part
        self._counters = [name for name in COUNTERS if name in counters]
        self._has_categories = categories
        self._progress, self._warn, self._link = progress, warn, link
        self._is_merged = len(ranks) > 1
        self._has_events = False

    def write(self, out: Path) -> int:
        self._run.session.load()
        part = self._part
        with tables(
            self._run,
            self._job,
            0,
            export_ranks=self._ranks,
            export_all=part.is_all,
            export_in_place=part.is_all and not self._is_merged,
            export_step=part.step,
            export_steps=None if part.step is None else [part.step],
            export_kernels_only=part.kernels_only,
            export_window_from_ns=None,
            export_window_until_ns=None,
            export_bucket_count=BUCKETS,
            export_least_late_ns=LEAST_LATE_NS,
        ):
            self._prepare()
            head, base_ns = self._head()
            set_variables(self._con, export_base_ns=base_ns)
            count = write_trace(out, head, self._batches())
            if part.step is not None or part.window_ns:
                [(from_ns, until_ns)] = FILES.run(self._con, "view").fetchall()
                if from_ns is not None:
                    self._link(LINK.format(from_ns=from_ns, until_ns=until_ns))
            return count

    def _prepare(self) -> None:
        """Make the tables about the job: clocks, ranks and devices."""
        part, con = self._part, self._con
        FILES.run(con, "begin_job")
        if self._is_merged or part.window_ns or "utilisation" in self._counters:
            FILES.run(con, "members")
            FILES.run(con, "clocks")
        FILES.run(con, "spans")
        if part.step is not None:
            self._check_step(part.step)
        if part.window_ns:
            [(first_ns,)] = FILES.run(con, "first_instant").fetchall()
            from_ns, until_ns = ((first_ns or 0) + ns for ns in part.window_ns)
            set_variables(con, export_window_from_ns=from_ns, export_window_until_ns=until_ns)
        FILES.run(con, "ranks")
        FILES.run(con, "devices")
        if "utilisation" in self._counters:
            FILES.run(con, "buckets")

    def _check_step(self, step: int) -> None:
        found = {
            rank
            for (rank,) in self._con.execute(
                "SELECT DISTINCT rank FROM export_spans WHERE device IS NULL"
            ).fetchall()
        }
        lacking = [rank for rank in self._ranks if rank not in found]
        if len(lacking) < len(self._ranks):
            if lacking:
                ranks = ", ".join(map(str, lacking[:6])) + (", …" if len(lacking) > 6 else "")
                self._warn(f"rank {ranks}: no step {step}, so the export has no events of it")
            return
        [(first, last, count)] = self._con.execute(
            "SELECT min(step), max(step), count(DISTINCT step) FROM steps "
            "WHERE job = ? AND list_contains(?, rank)",
            [self._job, self._ranks],
        ).fetchall()
        there = f"it has {count} steps, {first} to {last}" if count else "it has no steps"
        raise HtaSqlError(f"job {self._job!r} has no step {step}; {there}")

    def _head(self) -> tuple[dict, int]:
        """The file's top-level keys, and the ns that its time stamps count from."""
        if not self._is_merged:
            return head_of(self._run, self._job, self._ranks[0])
        ranks = (
            self._con.sql(
                "SELECT rank, shift_ns, from_ns, until_ns, residual_ns, drift_ppm, drift_ns, "
                "local_ns IS NOT NULL AS is_aligned FROM export_ranks WHERE is_chosen ORDER BY rank"
            )
            .to_arrow_table()
            .to_pylist()
        )
        devices = self._con.execute("FROM export_devices ORDER BY new_device").fetchall()
        [(begun_ns,)] = FILES.run(self._con, "begun").fetchall()
        base_ns = second_before(begun_ns or 0)
        first, _ = head_of(self._run, self._job, self._ranks[0])
        rank_keys = []
        for rank in ranks:
            if (rank["drift_ns"] or 0) > DRIFT_NS and rank["from_ns"] < rank["until_ns"]:
                self._warn(
                    f"rank {rank['rank']}: its clock drifts, so its first and last events are "
                    f"off by {rank['drift_ns'] / 1000:.1f} us"
                )
            rank_keys.append(
                {
                    "rank": rank["rank"],
                    "shift_ns": rank["shift_ns"],
                    "drift_ppm": rank["drift_ppm"] if rank["is_aligned"] else None,
                    "residual_ns": rank["residual_ns"],
                    "devices": {str(new): old for of, old, new in devices if of == rank["rank"]},
                }
            )
        kept = {key: first[key] for key in ("schemaVersion", "deviceProperties") if key in first}
        return kept | {
            "displayTimeUnit": "ns",
            "baseTimeNanoseconds": base_ns,
            EXPORTED: {"job": self._job, "ranks": rank_keys},
        }, base_ns

    def _batches(self) -> Generator[list[str]]:
        # The numbers of processes: first devices, then the job's process, then the others.
        next_pid = None
        if self._is_merged:
            [(devices,)] = self._con.execute("SELECT count(*) FROM export_devices").fetchall()
            job_pid = 10 ** max(4, math.ceil(math.log10(devices + 1)))
            yield from job_tracks(self._con, job_pid)
            next_pid = job_pid + 1
        done = 0
        for batch in self._rank_batches():
            self._prepare_ranks(batch, next_pid)
            for rank in batch:
                self._progress(done, len(self._ranks))
                done += 1
                yield from self._rank(rank, 1000 * done)
            if next_pid is not None:
                [(next_pid,)] = self._con.execute(
                    "SELECT greatest(max(new_pid::BIGINT) + 1, ?) FROM export_lanes", [next_pid]
                ).fetchall()
        if not self._has_events:
            raise HtaSqlError(
                "the chosen part of the traces has no events; choose another step or window"
            )

    def _rank_batches(self) -> Iterator[list[int]]:
        """Batches of ranks with up to BATCH events in total, so that little is in memory."""
        counts = dict(
            self._con.execute(
                "SELECT rank, coalesce(event_count, 0) FROM traces WHERE job = ?", [self._job]
            ).fetchall()
        )
        batch, events = [], 0
        for rank in self._ranks:
            if batch and events + counts[rank] > BATCH:
                yield batch
                batch, events = [], 0
            batch.append(rank)
            events += counts[rank]
        yield batch

    def _prepare_ranks(self, ranks: list[int], first_pid: int | None) -> None:
        """Make the tables about a batch of ranks, since one statement per rank would be slower."""
        con = self._con
        set_variables(con, export_batch=ranks, export_first_pid=first_pid)
        FILES.run(con, "lanes")
        FILES.run(con, "all_metadata")
        if not self._part.is_all:
            FILES.run(con, "in_window" if self._part.step is None else "of_step")
            FILES.run(con, "used_lanes")
        if self._counters:
            FILES.run(con, "device_processes")
        for name in self._counters:
            if name != "utilisation":
                FILES.run(con, f"all_{name}")

    def _rank(self, rank: int, sort_index: int) -> Iterator[list[str]]:
        con = self._con
        [(shift_ns,)] = con.execute(
            "SELECT shift_ns FROM export_ranks WHERE rank = ?", [rank]
        ).fetchall()
        digits = len(str(max(self._ranks)))
        set_variables(
            con,
            export_rank=rank,
            export_shift_ns=shift_ns,
            export_sort_index=sort_index,
            export_rank_digits=f"{rank:0{digits}}" if self._is_merged else None,
        )
        if self._is_merged:
            yield from lines(con, FILES.text("processes"))
        if self._is_merged or not self._part.is_all:
            yield from lines(con, FILES.text("metadata"))
        if self._has_categories:
            FILES.run(con, "marks_of_categories")
        with closing(lines_of_events(con, rank)) as batches:
            for batch in batches:
                self._has_events = self._has_events or bool(batch)
                yield batch
        for name in self._counters:
            yield from lines(con, FILES.text(f"counters_{name}"))
