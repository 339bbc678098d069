"""The command that makes the traces of a small job, and takes a newcomer through them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hta_sql.show.units import counted

# Where the tour puts its traces and its archive.
_TOUR = Path("hta-demo")
_NEXT = """
`is_straggler` marks the rank that the others wait for.

Look further:
  hta-sql report {archive}    write report.html: where the time goes
  hta-sql shell {archive}     ask in SQL
  hta-sql list                       see all queries

With traces of your own, a folder or files of .json or .json.gz:
  hta-sql ingest TRACES archive
  hta-sql report archive
  hta-sql run temporal_breakdown archive"""


def _size(flag: str, default: int, text: str) -> Callable[..., Any]:
    return click.option(
        flag, type=click.IntRange(min=1), default=default, show_default=True, help=text
    )


@click.command()
@click.argument("out", required=False, type=click.Path(file_okay=False, path_type=Path))
@_size("--ranks", 4, "Ranks of the job, each with a trace.")
@_size("--steps", 3, "Training steps.")
@_size("--layers", 4, "Layers of the model.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The same seed gives the same job."
)
@_size("--scale", 1, "Multiply the events of a step by this.")
@click.option(
    "--time-format",
    default="based",
    show_default=True,
    type=click.Choice(["based", "based_late", "absolute", "integer", "unpadded"]),
    help="How the traces write time stamps.",
)
@click.option(
    "--collective-ids",
    default="comms_id",
    show_default=True,
    type=click.Choice(["comms_id", "seq", "none"]),
    help="How the traces identify a collective across ranks.",
)
@click.option(
    "--straggler", metavar="RANK|none", default="last", show_default=True, help="The slow rank."
)
@click.option(
    "--bottleneck",
    type=click.Choice(["launch", "compute", "communication", "data_loading"]),
    help="Make this the bottleneck of every step. [default: none]",
)
@click.option(
    "--change",
    type=click.Choice(["slow_kernel", "inserted_op", "other_shapes", "other_kernel"]),
    help="Make one change, to compare with a job without it. [default: none]",
)
@click.option("--plain", is_flag=True, help="Do not compress the traces.")
@click.pass_context
def demo(ctx: click.Context, out: Path | None, straggler: str, plain: bool, **options: Any) -> None:
    """Make a small job and look at it; with OUT, only its traces.

    Without OUT it makes traces in hta-demo/traces, ingests them into
    hta-demo/archive, and prints three tables and the next commands. With OUT it
    writes the traces there, and truth.json with what an analysis has to find.

    \b
    Example:
      hta-sql demo
      hta-sql demo traces --ranks 2
    """
    from hta_sql.demo import write_job

    named = {"none": None, "last": -1}
    if straggler not in named and not straggler.isdecimal():
        raise click.BadParameter(
            f"{straggler!r} is neither a rank nor none", param_hint="--straggler"
        )
    slow = named[straggler] if straggler in named else int(straggler)
    if slow is not None and slow >= options["ranks"]:
        raise click.BadParameter(
            f"there are ranks 0 to {options['ranks'] - 1}", param_hint="--straggler"
        )
    traces = write_job(out or _TOUR / "traces", straggler=slow, gzip=not plain, **options)
    click.echo(f"{counted(len(traces), 'trace')} in {out or _TOUR / 'traces'}", err=True)
    if not out:
        _look_at(ctx.find_root().command, _TOUR / "traces", _TOUR / "archive")


def _look_at(hta_sql: click.Command, traces: Path, archive: Path) -> None:
    """Run the first commands that a newcomer runs, and show each above its output."""
    for words in (
        f"ingest {traces} {archive} --job demo",
        f"run temporal_breakdown {archive}",
        f"run stragglers {archive}",
        f"run kernel_stats {archive} --only-ranks 0 --top-k 3 --short-names",
    ):
        click.secho(f"\n$ hta-sql {words}", bold=True)
        hta_sql.main(words.split(), standalone_mode=False)
    click.echo(_NEXT.format(archive=archive))
