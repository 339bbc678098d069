"""The command that makes the traces of a small job, and takes a newcomer through them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hta_sql.cli.options import OneOf
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
@_size("--ranks", 4, "Ranks of the job. Each rank has one trace.")
@_size("--steps", 3, "Training steps.")
@_size("--layers", 4, "Layers of the model.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the random numbers: the same seed gives the same job.",
)
@_size("--scale", 1, "How often each layer repeats its operators.")
@click.option(
    "--time-format",
    default="based",
    show_default=True,
    type=OneOf(["based", "based_late", "absolute", "integer", "unpadded"]),
    help="How the traces write times, as above.",
)
@click.option(
    "--collective-ids",
    default="comms_id",
    show_default=True,
    type=OneOf(["comms_id", "seq", "none"]),
    help="How the traces identify a collective across ranks.",
)
@click.option(
    "--straggler",
    metavar="RANK|none",
    default="last",
    show_default=True,
    help="The rank whose kernels are slow; last is the highest rank.",
)
@click.option(
    "--bottleneck", metavar="RULE[@RANK],...", help="Faults of the job, as above. [default: none]"
)
@click.option(
    "--change",
    type=OneOf(["slow_kernel", "inserted_op", "other_shapes", "other_kernel"]),
    help="Change one thing, to compare the job with one without the change. [default: no change]",
)
@click.option("--plain", is_flag=True, help="Do not compress the traces.")
@click.pass_context
def demo(ctx: click.Context, out: Path | None, straggler: str, plain: bool, **options: Any) -> None:
    """Make traces of a small job, and look at them.

    \b
    Without OUT, the command:
      1. makes traces of a training job in hta-demo/traces
      2. ingests them into hta-demo/archive
      3. prints three tables and the next commands

    With OUT, it only writes traces to the folder OUT, together with truth.json, which lists what
    an analysis of these traces has to find. It replaces traces of an earlier demo in OUT, and fails
    if OUT has other files with these names.

    \b
    --bottleneck plants faults: patterns that the query findings looks for. Join
    names with commas; the first one is the largest. RULE@RANK is a fault of one
    rank. truth.json then has what a step saves without each fault.
      host_bound             a slow Python function, and no launches meanwhile
      launch_overhead        hundreds of kernels, shorter than their launches
      slow_launches          launches that take 1.5 ms
      stalled_after_launch   kernels that start 2 ms after their launch
      data_loading           the loader takes longer than a step
      gpu_sync               the host reads single values from the GPU
      memory_thrash          cudaFree and cudaMalloc in each step
      exposed_communication  large all-gathers that each layer waits for
      slow_collectives       an all-reduce far slower than others of its size
      small_collectives      a hundred all-reduces of 64 KB
      straggler              one rank whose kernels are slow
      load_imbalance         one rank with three times the rows of an embedding
      full_precision         matrix products in FP32
      far_from_roofline      matrix products whose inner dimension is odd
      unfused_elementwise    chains of eight pointwise operators
      unfused_optimizer      an optimizer of small operators
      pageable_copies        inputs copied from memory that is not pinned
      layout_copies          weights transposed in each step
      recompute              activation checkpointing
      step_variance          every fourth step is longer
      warm_up                the first step is three times as long
      profiler_overhead      time that the profiler itself takes
      pipeline_bubble        a pipeline stage that sends its messages late
      expert_imbalance       one rank with three times the tokens
      launch, compute, communication
                             all launches, attention or transfers are slow

    \b
    --time-format sets how the traces write times, in microseconds:
      based       relative to a base time at the top of the file (as PyTorch
                  writes now)
      based_late  the same, with the base time at the end of the file
      absolute    Unix time with three decimals
      integer     Unix time without decimals
      unpadded    Unix time with wrong decimals, as some old versions wrote
                  them: .5 stands for .005

    \b
    Example:
      hta-sql demo
      hta-sql demo traces --ranks 2
    """
    from hta_sql.demo import write_job
    from hta_sql.demo.faults import named_faults

    names = options["bottleneck"].split(",") if options["bottleneck"] else []
    try:
        named_faults(names, options["ranks"], options["layers"])
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--bottleneck") from None
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
