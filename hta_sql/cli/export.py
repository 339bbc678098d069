"""The commands that write traces for Perfetto."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hta_sql.cli.options import archives_argument, list_option
from hta_sql.cli.progress import Progress, say
from hta_sql.cli.results import open_archives

# As in export/perfetto.py, which is not imported to print help.
_COUNTERS = ("queue", "bandwidth", "utilisation")
_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|ms|s)")


@click.group()
def export() -> None:
    """Write traces for Perfetto, or copy a job.

    \b
    Example:
      hta-sql export perfetto archive step3.json.gz --step 3
      hta-sql export critical-path archive path.json.gz
    """


_out_argument = click.argument(
    "out", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT.json[.gz]"
)
_job_option = click.option(
    "--job", metavar="JOB", help="Job to export. [default: the only job of the archive]"
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
                f"in {value!r}, FROM is not before UNTIL; give a time such as 10ms..25ms",
                ctx,
                option,
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
            f"{unknown[0]!r} is not a counter; give some of {', '.join(_COUNTERS)}, or none",
            ctx,
            option,
        )
    return tuple(names)


_counters_option = click.option(
    "--counters",
    callback=_counters,
    metavar="NAME,...",
    help=f"Counters to add: {', '.join(_COUNTERS)}, or none. [default: all]",
)


def _write(archives: tuple[str, ...], out: Path, export: Callable[..., int]) -> None:
    # If a pipeline cancels the command, no partial file stays behind.
    from hta_sql.export.file import refuse_inside

    with open_archives(archives) as archive:
        refuse_inside(archive, out)
        with archive.session.unmoved():
            count = export(archive, out)
    say(f"{count:,} events in {out}")


@export.command("perfetto")
@archives_argument
@_out_argument
@_job_option
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Write only step N.")
@click.option(
    "--window",
    callback=_window,
    metavar="FROM..UNTIL",
    help="Write only what overlaps this time, such as 10ms..25ms after the first GPU activity.",
)
@_counters_option
@click.option(
    "--categories",
    is_flag=True,
    help="Give GPU activities the argument Category, such as gemm, to search and filter by.",
)
@click.option("--kernels-only", is_flag=True, help="Write only kernels, copies and memsets.")
def export_perfetto_(
    archives: tuple[str, ...],
    out: Path,
    step: int | None,
    window: tuple[int, int] | None,
    kernels_only: bool,
    **chosen: Any,
) -> None:
    """Write the ranks of a job side by side on one clock.

    Open the file in https://ui.perfetto.dev. It also has counters: queue lengths, bandwidths of
    copies, and how busy the GPUs are. With --step or --window, the command prints a link at which
    Perfetto shows this part of the file that you open there.

    A single rank is written as it is in its trace. If there are several ranks, each rank is
    moved in time by an offset of its own, onto one clock. Collectives of all ranks then line up.
    A track of its own shows the steps of the job, and which rank came late to collectives. If
    ingest reads such a file, it sees one trace with the devices of all ranks.

    \b
    Example:
      hta-sql export perfetto archive job.json.gz
      hta-sql export perfetto archive step3.json.gz --step 3 --only-ranks 0,1
      hta-sql export perfetto archive part.json --window 10ms..25ms --kernels-only
    """
    if step is not None and window is not None:
        raise click.UsageError("give either --step or --window, not both")
    bar = Progress()

    def progress(done: int, total: int) -> None:
        bar.show(f"{done} of {total} ranks")

    def warn(line: str) -> None:
        say(f"Warning: {line}")

    def link(url: str) -> None:
        what = "the window" if step is None else f"step {step}"
        say(f"To see {what}, open the file in {url}")

    from hta_sql.export.perfetto import Part, export_perfetto

    def write(archive: Any, out: Path) -> int:
        try:
            return export_perfetto(
                archive,
                out,
                part=Part(step, window, kernels_only),
                progress=progress,
                warn=warn,
                link=link,
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
    """Write a rank's trace with counters from the queries.

    All events of the trace are written unchanged. The counters come from the queries
    queue_length_series, memory_bandwidth_series and heatmap (share of time with GPU work).

    \b
    Example:
      hta-sql export counters archive out.json.gz --only-ranks 0
      hta-sql export counters archive out.json.gz --only-ranks 0 \\
        --counters queue,bandwidth
    """
    from hta_sql.export.perfetto import export_counters

    _write(archives, out, lambda archive, out: export_counters(archive, out, **chosen))


@export.command("sequences")
@archives_argument
@_out_argument
@click.option(
    "--operator", required=True, metavar="TEXT", help="Look at operators whose name contains TEXT."
)
@click.option(
    "--min-length",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Leave out operators that launch fewer than N GPU activities.",
)
@click.option(
    "--top-k",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="K",
    help="Mark the K most frequent sequences.",
)
@_job_option
def export_sequences_(archives: tuple[str, ...], out: Path, **chosen: Any) -> None:
    """Write a rank's trace with kernel sequences marked.

    The command marks three kinds of events: operators that launch one of the most frequent kernel
    sequences, everything inside these operators on their thread, and the activities that they
    launch. These events get the argument `Patterns`: the sequence, and how often it occurs. The
    sequences are those of the query kernel_sequences.

    \b
    Example:
      hta-sql export sequences archive out.json.gz --only-ranks 0 \\
        --operator aten::linear
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

    Compute the path first, with `hta-sql critical-path`. Events on the path get the argument
    `critical: 1`. The path also has its own track, with an arrow where it goes from one lane to
    another.

    \b
    Example:
      hta-sql export critical-path archive path.json.gz
      hta-sql export critical-path archive path.json.gz --only-ranks 3 \\
        --only-windows "step 3"
    """
    from hta_sql.export.critical_path import export_critical_path

    _write(archives, out, lambda archive, out: export_critical_path(archive, out, **chosen))


_THE_ONLY_ONE = "[default: the only one with a critical path]"
_JOBS = list_option("--only-jobs", click.STRING, f"Job to export. {_THE_ONLY_ONE}")
_RANKS = list_option("--only-ranks", click.INT, f"Rank to export. {_THE_ONLY_ONE}")
_WINDOWS = list_option(
    "--only-windows", click.STRING, f"Window to export, such as 'step 3'. {_THE_ONLY_ONE}"
)
export_path.params += [_JOBS, _RANKS, _WINDOWS]
_ALL_RANKS = list_option("--only-ranks", click.INT, "Ranks to write. [default: all]")
export_perfetto_.params.append(_ALL_RANKS)
_ONE_RANK = list_option("--only-ranks", click.INT, "Rank to write. [default: the job's only rank]")
for _command in (export_counters_, export_sequences_):
    _command.params.append(_ONE_RANK)
