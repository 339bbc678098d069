"""The command line. Results go to stdout, everything else to stderr.

Imports of DuckDB and Arrow are inside the commands: help and completion answer at once.
"""

import atexit
import json
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli.critical_path import critical_path
from hta_sql.cli.diff import diff
from hta_sql.cli.export import export
from hta_sql.cli.ingest import ingest
from hta_sql.cli.keeping import compact, drop, import_, usage
from hta_sql.cli.materialize import materialize
from hta_sql.cli.queries import (
    QueryGroup,
    archives_argument,
    open_archives,
    with_output,
    write_result,
)
from hta_sql.cli.report import report
from hta_sql.errors import BadParameter, HtaSqlError, UnknownQuery, from_duckdb, one_line
from hta_sql.show.output import counted
from hta_sql.version import __version__


class MainGroup(click.Group):
    """Turns our errors, and those of the machine, into one line and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, click.ClickException, click.exceptions.Exit):
            raise
        except (Exception, KeyboardInterrupt) as error:
            # DuckDB says it so when Ctrl-C ends a query.
            if isinstance(error, KeyboardInterrupt) or str(error) == "Query interrupted":
                click.echo("Interrupted", err=True)
                raise click.exceptions.Exit(130) from None
            if ctx.params["debug"]:
                raise
            raise _for_people(error) from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.commands and args[0] in Catalog.load().newest:
            ctx.fail(f"{args[0]} is a query: hta-sql run {args[0]} ARCHIVE")
        return super().resolve_command(ctx, args)


@click.group(cls=MainGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hta-sql")
@click.option("--debug", is_flag=True, help="Show a traceback instead of one line on errors.")
def cli(debug: bool) -> None:
    """SQL analytics for PyTorch-profiler (Kineto) traces.

    \b
    Example:
      hta-sql ingest traces/ archive
      hta-sql run temporal_breakdown archive
    """


@cli.command("list")
def list_() -> None:
    """List the queries with a sentence each, by theme.

    \b
    Example:
      hta-sql list
    """
    queries = Catalog.load().newest.values()
    width = max((len(query.name) for query in queries), default=0)
    theme = None
    for query in queries:
        if query.theme != theme:
            click.echo(("\n" if theme else "") + query.theme)
            theme = query.theme
        click.echo(f"  {query.name:{width}}  {query.summary}")


@cli.command()
@click.argument("query")
@click.option("--version", type=int, metavar="N", help="Version. [default: the newest]")
def show(query: str, version: int | None) -> None:
    """Print a query's SQL file, which is its documentation.

    \b
    Example:
      hta-sql show temporal_breakdown
    """
    click.echo(Catalog.load().find(query, version).sql, nl=False)


@cli.group(cls=QueryGroup, subcommand_metavar="QUERY ARCHIVE... [OPTIONS]")
def run() -> None:
    """Run a query on an archive, or on several read as one.

    \b
    Example:
      hta-sql run temporal_breakdown archive --only-ranks 0,1
      hta-sql run kernel_stats archive --top-k 5 --format json
      hta-sql run kernel_stats --help
    """


class SqlCommand(click.Command):
    """Takes SQL that begins with a comment for what it is, not for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {a}" if re.match(r"--\s", a) else a for a in args])


@cli.command(cls=SqlCommand)
@click.argument("archives", nargs=-1, metavar="ARCHIVE...")
@click.argument("sql", metavar="SQL")
@with_output
def sql(archives: tuple[str, ...], sql: str, format: str | None, output: Path | None) -> None:
    """Run SQL on an archive, or on several read as one; `-` reads it from stdin.

    \b
    Example:
      hta-sql sql archive "SELECT rank, count(*) AS event_count FROM events GROUP BY rank"
      hta-sql sql archive - --format csv < question.sql
    """
    if not archives:
        raise click.UsageError("Missing ARCHIVE or SQL: hta-sql sql ARCHIVE... SQL")
    statement = sys.stdin.read() if sql == "-" else sql
    with open_archives(archives) as archive:
        relation = archive._sql_relation(statement)
        if lacking := archive._lacking_results(archive._called_in(statement)):
            click.echo(lacking, err=True)
        write_result(archive, relation, format, output)


@cli.command()
@archives_argument
def check(archives: tuple[str, ...]) -> None:
    """Test that an archive is whole and keeps what the queries' headers promise.

    Exits with 1 where rows are missing or a promise is broken.

    \b
    Example:
      hta-sql check archive
    """
    broken, tested = 0, 0
    with open_archives(archives) as archive:
        missing = archive.check_tables()
        for line in missing:
            click.echo(line)
        for query in Catalog.load().queries:
            if query.required:
                needs = ", ".join(p.name for p in query.required)
                click.echo(f"{query}: not checked, it needs {needs}", err=True)
                continue
            tested += 1
            try:
                lines = archive.check(query.name, query.version)
            except HtaSqlError as error:
                lines = [str(error)]
            broken += bool(lines)
            for line in lines:
                click.echo(line)
    click.echo(f"{tested - broken} of {tested} queries keep their promises")
    if missing or broken:
        raise click.exceptions.Exit(1)


@cli.command()
@click.argument("archive")
@click.option(
    "-c", "commands", multiple=True, metavar="SQL", help="Run this and leave; repeatable."
)
def shell(archive: str, commands: tuple[str, ...]) -> None:
    """Open DuckDB's command line on an archive.

    \b
    Example:
      hta-sql shell archive
      hta-sql shell archive -c "FROM hta_queries" -c "FROM temporal_breakdown()"
    """
    from hta_sql.database.attach import run_shell

    raise click.exceptions.Exit(run_shell(archive, commands))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON, which is the only form so far.")
def catalog(as_json: bool) -> None:
    """Print all that is known of the queries, for programs.

    \b
    Example:
      hta-sql catalog --json
    """
    click.echo(json.dumps(Catalog.load().as_json(), indent=2))


@cli.command()
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


cli.add_command(critical_path)
cli.add_command(diff)
cli.add_command(export)
cli.add_command(ingest)
cli.add_command(materialize)
cli.add_command(report)
for _command in (compact, drop, import_, usage):
    cli.add_command(_command)


def main() -> None:
    try:
        cli(prog_name="hta-sql")
    except SystemExit as end:
        _leave(end)


def _leave(end: SystemExit) -> NoReturn:
    """End the process as Python does, and as its own worker processes do, but without taking apart
    every module first, for which a short command would take a tenth longer."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # a full disk, say, which Python tells; or closed
        raise end from None
    os._exit(end.code)


def _for_people(error: Exception) -> Exception:
    """The error as click shows it: usage errors exit 2, others 1; our own bugs stay as they are."""
    if isinstance(error, UnknownQuery | BadParameter):
        return click.UsageError(str(error))
    if isinstance(error, HtaSqlError):
        return click.ClickException(str(error))
    if type(error).__module__.startswith(("botocore", "aiobotocore", "aiohttp")):
        return click.ClickException(one_line(error))
    if isinstance(error, OSError):  # Arrow says so of a query that fails on its way, too
        text = f"{error.filename}: {error.strerror}" if error.filename else one_line(error)
        return click.ClickException(text)
    duckdb = sys.modules.get("duckdb")
    if duckdb and isinstance(error, duckdb.Error):
        return _for_people(from_duckdb(error))
    return error
