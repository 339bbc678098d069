"""The command that makes up traces."""

from pathlib import Path
from typing import Any

import click

from hta_sql.show.units import counted


@click.command()
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--ranks", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--steps", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--layers", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Equal seeds make equal jobs.")
@click.option(
    "--scale",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Multiplies the events of a step.",
)
@click.option(
    "--time-format",
    default="based",
    show_default=True,
    type=click.Choice(["based", "based_late", "absolute", "integer", "unpadded"]),
    help="How the traces write time.",
)
@click.option(
    "--collective-ids",
    default="comms_id",
    show_default=True,
    type=click.Choice(["comms_id", "seq", "none"]),
    help="What tells which collectives belong together.",
)
@click.option(
    "--straggler",
    metavar="RANK|none",
    default="last",
    show_default=True,
    help="The rank that is slow.",
)
@click.option(
    "--bottleneck",
    type=click.Choice(["launch", "compute", "communication", "data_loading"]),
    help="What bounds every step. [default: nothing in particular]",
)
@click.option(
    "--change",
    type=click.Choice(["slow_kernel", "inserted_op", "other_shapes", "other_kernel"]),
    help="What is otherwise than in the job without it, to compare the two. [default: nothing]",
)
@click.option("--plain", is_flag=True, help="Do not compress the traces.")
def demo(out: Path, straggler: str, plain: bool, **options: Any) -> None:
    """Make up the traces of a training job, with the truth about them.

    \b
    Example:
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
    traces = write_job(out, straggler=slow, gzip=not plain, **options)
    click.echo(f"{counted(len(traces), 'trace')} in {out}", err=True)
