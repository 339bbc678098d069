"""The command line. Results go to stdout, everything else to stderr.

Imports of DuckDB and Arrow are inside the commands: help and completion answer at once.
"""

import atexit
import os
import sys
import threading
from itertools import chain
from typing import Any, NoReturn

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli.catalogue import catalog, list_, show
from hta_sql.cli.check import check
from hta_sql.cli.completion import add_completion, completion, is_completing
from hta_sql.cli.critical_path import critical_path
from hta_sql.cli.demo import demo
from hta_sql.cli.diff import diff
from hta_sql.cli.doctor import doctor
from hta_sql.cli.export import export
from hta_sql.cli.ingest import ingest
from hta_sql.cli.keeping import compact, drop, import_, usage
from hta_sql.cli.limits import INTERRUPTED, TIME_IS_UP, add_limits, listening, why_ended
from hta_sql.cli.materialize import materialize
from hta_sql.cli.mcp import mcp
from hta_sql.cli.queries import run
from hta_sql.cli.refresh import refresh
from hta_sql.cli.report import report
from hta_sql.cli.sql import shell, sql
from hta_sql.engines.lean import be_lean
from hta_sql.errors import (
    BadParameter,
    HtaSqlError,
    TimeLimit,
    UnknownQuery,
    from_duckdb,
    is_interrupt,
    one_line,
)
from hta_sql.show.visible import visible
from hta_sql.version import __version__


class MainGroup(click.Group):
    """Turns our errors, and those of the machine, into one line and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:  # nobody reads the rest, as in `hta-sql … | head`
            raise click.exceptions.Exit(0) from None
        except (Exception, KeyboardInterrupt) as error:
            end = why_ended()
            if end or isinstance(error, KeyboardInterrupt) or is_interrupt(error):
                status, line = end or INTERRUPTED
                click.echo(line, err=True)
                raise click.exceptions.Exit(status) from None
            if ctx.params["debug"]:
                raise
            raise _for_people(error) from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        is_known = args[0] in self.commands or ctx.resilient_parsing
        if not is_known and args[0] in Catalog.load().newest:
            ctx.fail(f"{args[0]} is a query: hta-sql run {args[0]} ARCHIVE")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in _COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(c.name, c.get_short_help_str(100)) for c in commands])


# In the order in which a newcomer needs them.
_COMMANDS = {
    "Start": (demo, ingest, doctor, report),
    "Ask": (list_, show, run, sql, shell),
    "Find causes": (diff, critical_path, export),
    "Keep archives": (check, usage, materialize, refresh, compact, drop, import_),
    "For programs and shells": (catalog, completion, mcp),
}


@click.group(
    cls=MainGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="hta-sql")
@click.option("--debug", is_flag=True, help="Show the traceback of an error, not only one line.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """SQL analytics for PyTorch-profiler (Kineto) traces.

    \b
    Example:
      hta-sql doctor traces/
      hta-sql ingest traces/ archive
      hta-sql report archive
      hta-sql run temporal_breakdown archive

    \b
    Exit status:
      0    done
      1    an error, or a trace, job or check that failed
      2    wrong usage
      3    a condition of diff --fail-if or doctor --fail-on holds
      124  the time limit of --timeout is reached
      130  interrupted; 143 and 129 after SIGTERM and SIGHUP
    """
    if ctx.invoked_subcommand is None:
        click.echo(_FIRST_STEPS)


_FIRST_STEPS = """\
hta-sql answers questions on PyTorch-profiler (Kineto) traces.

With traces of your own, a folder or files of .json or .json.gz:
  hta-sql doctor TRACES                   print what to fix first
  hta-sql ingest TRACES archive           read them once, into archive
  hta-sql report archive                  write report.html: where time goes
  hta-sql run temporal_breakdown archive  print one of many tables

Without traces:
  hta-sql demo                            make a small job and look at it

All commands: hta-sql --help. All queries: hta-sql list."""


# Those that work on traces or tables, for as long as that takes.
for _command in (
    ingest, doctor, report, sql, diff, critical_path, export, check, materialize, refresh, compact,
    drop, import_,
):  # fmt: skip
    add_limits(_command)
for _command in chain.from_iterable(_COMMANDS.values()):
    add_completion(_command)
    cli.add_command(_command)


def main() -> None:
    be_lean()
    if is_completing():  # a word is being typed, and no message may come into it
        sys.stderr = open(os.devnull, "w")
    try:
        with listening():
            try:
                cli(prog_name="hta-sql")
            except KeyboardInterrupt:  # before or after the command itself
                status, line = why_ended() or INTERRUPTED
                click.echo(line, err=True)
                sys.exit(status)
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
    if isinstance(error, TimeLimit):
        failure = click.ClickException(visible(str(error)))
        failure.exit_code = TIME_IS_UP
        return failure
    if isinstance(error, UnknownQuery | BadParameter):
        return click.UsageError(visible(str(error)))
    if isinstance(error, HtaSqlError):
        return click.ClickException(visible(str(error)))
    if type(error).__module__.startswith(("botocore", "aiobotocore", "aiohttp")):
        return click.ClickException(one_line(error))
    if isinstance(error, OSError):  # Arrow says so of a query that fails on its way, too
        text = f"{error.filename}: {error.strerror}" if error.filename else one_line(error)
        return click.ClickException(visible(text))
    duckdb = sys.modules.get("duckdb")
    if duckdb and isinstance(error, duckdb.Error):
        return _for_people(from_duckdb(error))
    return error
