"""The command that computes critical paths."""

import time
from pathlib import Path
from typing import Any

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli.options import archives_argument, list_option, with_output
from hta_sql.cli.progress import Progress, say
from hta_sql.cli.results import open_archives, write_result
from hta_sql.show.formats import format_of


@click.command("critical-path")
@archives_argument
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Analyse step N.")
@click.option(
    "--annotation", metavar="TEXT", help="Analyse a host annotation whose name contains TEXT."
)
@click.option(
    "--instance",
    type=click.IntRange(min=0),
    default=0,
    metavar="I",
    help="Which of these annotations to analyse. On each rank, they are counted from 0 in order of "
    "their start. [default: 0]",
)
@click.option(
    "--data-loading",
    multiple=True,
    metavar="TEXT",
    help="Annotations whose name contains TEXT also count as data loading; repeatable.",
)
@click.option(
    "--faster",
    multiple=True,
    metavar="NAME=TIMES",
    help="Add a row to what_if, in which NAME is TIMES times faster. NAME is the exact name of a "
    "kernel, operator, call or annotation, or a category, such as data_loading; repeatable.",
)
@with_output
def critical_path(
    archives: tuple[str, ...],
    faster: tuple[str, ...],
    format: str | None,
    output: Path | None,
    **chosen: Any,
) -> None:
    """Find what bounds a step, an annotation or whole traces.

    The command computes critical paths, stores them in the archive, and prints what bounds each
    rank. --step or --annotation chooses a time window; without them, the window is the whole trace.
    If you compute the same window of a job again, the new result replaces the old one, even if you
    choose other ranks.

    \b
    These queries read the result:
      * critical_path: each rank's path
      * critical_path_summary: time on each rank's path, by category (bound_by)
      * critical_path_ops: the same, by operator
      * critical_path_ranks: the path of the job through its ranks
      * what_if: how long the window would take if something were faster

    \b
    Example:
      hta-sql critical-path archive --step 3
      hta-sql critical-path archive --annotation forward --instance 1
      hta-sql critical-path archive --step 3 --faster aten::mm=1.5
      hta-sql run what_if archive
    """
    asked = [_name_and_times(item) for item in faster]
    times = dict(asked)
    if len(times) < len(asked):
        raise click.BadParameter(
            "a name is given twice; give each name once", param_hint="--faster"
        )
    if output:
        format_of(output, format)
    began = time.monotonic()
    bar = Progress()

    def progress(job: str, done: int, total: int) -> None:
        bar.show(f"{job}: {done} of {total} ranks")

    with open_archives(archives) as archive:
        found = archive.compute_critical_path(faster=times, progress=progress, **chosen)
        bar.clear()
        for path in found:
            left_out = f", {path.left_out_count:,} edges left out" if path.left_out_count else ""
            say(
                f"{path.job}, {path.path_window}: {_ranks(len(path.ranks))}, "
                f"{path.node_count:,} nodes, {path.edge_count:,} edges{left_out}"
            )
        say(f"computed in {time.monotonic() - began:.1f} s")
        window = found[0].path_window
        for name in archive.sql(
            "SELECT subject FROM what_if_times WHERE scenario = 'faster' AND path_window = $window "
            "AND list_contains($names, subject) GROUP BY subject HAVING sum(edge_count) = 0 "
            "ORDER BY subject",
            {"window": window, "names": list(times)},
        )["subject"].to_pylist():
            say(f"Warning: --faster: nothing in {window!r} is named {name!r}; give the exact name")
        relation = archive.relation_of(
            Catalog.load().find("critical_path_summary"),
            {"only_jobs": [path.job for path in found], "only_windows": [window]},
        )
        write_result(archive, relation, format, output)


_JOBS = list_option("--only-jobs", click.STRING, "Jobs to analyse. [default: all]")
_RANKS = list_option("--only-ranks", click.INT, "Ranks to analyse. [default: all]")
critical_path.params += [_JOBS, _RANKS]


def _name_and_times(item: str) -> tuple[str, float]:
    name, is_pair, text = item.rpartition("=")
    try:
        times = float(text)
    except ValueError:
        times = 0.0
    if not (is_pair and name and 1 < times < float("inf")):
        raise click.BadParameter(
            f"{item!r} is not NAME=TIMES with TIMES above 1, such as aten::mm=1.5",
            param_hint="--faster",
        )
    return name, times


def _ranks(count: int) -> str:
    return f"{count} rank" if count == 1 else f"{count} ranks"
