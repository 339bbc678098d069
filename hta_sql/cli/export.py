"""The commands that write traces."""

import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hta_sql.cli.options import archives_argument, list_option
from hta_sql.cli.progress import Progress
from hta_sql.cli.results import open_archives

# As in export/perfetto.py, which is not read for a page of help.
_COUNTERS = ("queue", "bandwidth", "utilisation")
_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|ms|s)")


@click.group()
def export() -> None:
    """Write traces with what the queries found, for Perfetto.

    \b
    Example:
      hta-sql export perfetto archive step3.json.gz --step 3
      hta-sql export critical-path archive path.json.gz
    """


_out_argument = click.argument(
    "out", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT.json[.gz]"
)
_job_option = click.option(
    "--job", metavar="JOB", help="Which job. [default: the only one of the archive]"
)


def _window(
    ctx: click.Context, option: click.Parameter, value: str | None
) -> tuple[int, int] | None:
    if value is None:
        return None
    ends = [_TIME.fullmatch(end.strip()) for end in value.split("..")]
    if len(ends) == 2 and all(ends):
        from_ns, until_ns = (round(float(end[1]) * _UNITS_NS[end[2]]) for end in ends)
        if from_ns >= until_ns:
            raise click.BadParameter(
                f"{value!r} is no time: FROM is before UNTIL, such as 10ms..25ms", ctx, option
            )
        if until_ns < 2**60:
            return from_ns, until_ns
    raise click.BadParameter(
        f"{value!r} is not FROM..UNTIL with units, such as 10ms..25ms or 0.5s..0.6s", ctx, option
    )


def _counters(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    if value is None:
        return _COUNTERS
    names = [name.strip() for name in value.split(",")]
    if names == ["none"]:
        return ()
    if unknown := [name for name in names if name not in _COUNTERS]:
        raise click.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(_COUNTERS)}; or it is none", ctx, option
        )
    return tuple(names)


_counters_option = click.option(
    "--counters",
    callback=_counters,
    metavar="NAME,...",
    help=f"Counters to add: {', '.join(_COUNTERS)}; or none. [default: all]",
)


def _write(archives: tuple[str, ...], out: Path, export: Callable[..., int]) -> None:
    # What a pipeline cancels leaves no half of a file.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    from hta_sql.export.file import refuse_inside

    with open_archives(archives) as archive:
        refuse_inside(archive, out)
        with archive.session.unmoved():
            count = export(archive, out)
    click.echo(f"{count:,} events in {out}", err=True)


@export.command("perfetto")
@archives_argument
@_out_argument
@_job_option
@click.option(
    "--step", type=click.IntRange(min=0), metavar="N", help="Only what belongs to ProfilerStep#N."
)
@click.option(
    "--window",
    callback=_window,
    metavar="FROM..UNTIL",
    help="Only what overlaps this time, from the first GPU activity on: 10ms..25ms.",
)
@_counters_option
@click.option("--kernels-only", is_flag=True, help="Only kernels, copies and memsets.")
def export_perfetto_(
    archives: tuple[str, ...],
    out: Path,
    step: int | None,
    window: tuple[int, int] | None,
    kernels_only: bool,
    **chosen: Any,
) -> None:
    """Write ranks of a job side by side, for https://ui.perfetto.dev.

    One rank is written as its trace has it. Several are moved onto one clock, each as a whole, so
    that what they wait for each other stands one below the other; a process of the job shows its
    steps, and which rank came late to collectives. Lengths of queues, bandwidths of copies and how
    busy GPUs are go with them as counters. Read again by ingest, several ranks are one trace with
    all their devices.

    \b
    Example:
      hta-sql export perfetto archive job.json.gz
      hta-sql export perfetto archive step3.json.gz --step 3 --only-ranks 0,1
      hta-sql export perfetto archive part.json.gz --window 10ms..25ms --kernels-only
    """
    if step is not None and window is not None:
        raise click.UsageError("--step and --window exclude each other")
    bar = Progress()

    def progress(done: int, total: int) -> None:
        bar.show(f"{done} of {total} ranks")

    def warn(line: str) -> None:
        click.echo(f"Warning: {line}", err=True)

    from hta_sql.export.perfetto import Part, export_perfetto

    def write(archive: Any, out: Path) -> int:
        try:
            return export_perfetto(
                archive,
                out,
                part=Part(step, window, kernels_only),
                progress=progress,
                warn=warn,
                **chosen,
            )
        finally:
            bar.clear()

    _write(archives, out, write)


@export.command("counters")
@archives_argument
@_out_argument
@_job_option
@_counters_option
def export_counters_(archives: tuple[str, ...], out: Path, **chosen: Any) -> None:
    """Write a rank's trace as it is, with counters of what the queries measure.

    They are the rows of queue_length_series, memory_bandwidth_series and heatmap (busy).

    \b
    Example:
      hta-sql export counters archive counters.json.gz --only-ranks 0 --counters queue,bandwidth
    """
    from hta_sql.export.perfetto import export_counters

    _write(archives, out, lambda archive, out: export_counters(archive, out, **chosen))


@export.command("sequences")
@archives_argument
@_out_argument
@click.option("--operator", required=True, metavar="TEXT", help="Part of the operators' name.")
@click.option(
    "--min-length",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Operators with fewer activities are left out.",
)
@click.option(
    "--top-k",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="K",
    help="So many of the most frequent sequences.",
)
@_job_option
def export_sequences_(archives: tuple[str, ...], out: Path, **chosen: Any) -> None:
    """Write a rank's trace with the kernel sequences of operators marked.

    Operators with one of the most frequent sequences, all that is inside of them on their thread
    and all that they launch have `Patterns` among their arguments: the sequence, and how often it
    is there. The sequences are those of the query kernel_sequences.

    \b
    Example:
      hta-sql export sequences archive linear.json.gz --operator aten::linear --only-ranks 0
    """
    from hta_sql.export.sequences import export_sequences

    _write(archives, out, lambda archive, out: export_sequences(archive, out, **chosen))


@export.command("critical-path")
@archives_argument
@_out_argument
@click.option(
    "--only-critical",
    is_flag=True,
    help="Leave out operators, calls and GPU activities that are not on the path.",
)
def export_path(archives: tuple[str, ...], out: Path, **chosen: Any) -> None:
    """Write a rank's trace with its critical path marked.

    Events on the path have `critical: 1` among their arguments. The path has a track of its own,
    and arrows where it goes from one lane to another. `hta-sql critical-path` computes it first.

    \b
    Example:
      hta-sql export critical-path archive path.json.gz
      hta-sql export critical-path archive path.json.gz --only-ranks 3 --only-windows "step 3"
    """
    from hta_sql.export.critical_path import export_critical_path

    _write(archives, out, lambda archive, out: export_critical_path(archive, out, **chosen))


_JOBS = list_option("--only-jobs", click.STRING, "Jobs to look at. [default: all]")
_RANKS = list_option("--only-ranks", click.INT, "Ranks to look at. [default: all]")
_WINDOWS = list_option(
    "--only-windows", click.STRING, "Windows to look at, as path_window has them. [default: all]"
)
export_path.params += [_JOBS, _RANKS, _WINDOWS]
_OF_JOB = list_option("--only-ranks", click.INT, "Ranks to write. [default: all]")
for _command in (export_perfetto_, export_counters_, export_sequences_):
    _command.params.append(_OF_JOB)
