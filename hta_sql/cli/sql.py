"""The commands that run SQL."""

import re
import sys
from pathlib import Path

import click

from hta_sql.cli.limits import end_with_process, seconds_left
from hta_sql.cli.options import with_models, with_output
from hta_sql.cli.progress import say
from hta_sql.cli.results import open_archives, write_result


class SqlCommand(click.Command):
    """Treats an argument that begins with an SQL comment (`-- `) as SQL, not as an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {a}" if re.match(r"--\s", a) else a for a in args])


@click.command(cls=SqlCommand)
@click.argument("archives", nargs=-1, metavar="ARCHIVE...")
@click.argument("sql", metavar="SQL")
@click.option(
    "--safe",
    is_flag=True,
    help="For SQL of others: only a SELECT on the archive's tables and queries, for at most 60 s "
    "and with 4 GB, if no other limits are given.",
)
@click.option(
    "--max-rows", type=click.IntRange(min=0), metavar="N", help="Print only the first N rows."
)
@with_output
@with_models
def sql(
    archives: tuple[str, ...],
    sql: str,
    format: str | None,
    output: Path | None,
    models: Path | None,
    safe: bool,
    max_rows: int | None,
) -> None:
    """Run SQL on one archive, or on several together.

    SQL is one statement. If it is `-`, it is read from stdin.

    With --safe, the statement can read only the archive. It cannot read or write other files,
    use the network, load extensions or change settings.

    \b
    Example:
      hta-sql sql archive "SELECT rank, count(*) AS n FROM events GROUP BY rank"
      hta-sql sql archive - --format csv < question.sql
      hta-sql sql archive --safe --max-rows 1000 - < question.sql
    """
    if not archives:
        raise click.UsageError("Missing ARCHIVE or SQL: hta-sql sql ARCHIVE... SQL")
    from hta_sql.database.stored_results import lacking_paths, lacking_stored

    statement = sys.stdin.read() if sql == "-" else sql
    with open_archives(archives, models=models, safe=safe, timeout=seconds_left()) as archive:
        if safe:
            end_with_process(archive.session)
        relation = archive.relation(statement)
        called = archive.called_in(statement)
        for lacking in lacking_stored(archive.session, called) + lacking_paths(
            archive.session, called
        ):
            say(lacking)
        write_result(archive, relation, format, output, most_rows=max_rows)


@click.command()
@click.argument("archive")
@click.option("-c", "commands", multiple=True, metavar="SQL", help="Run SQL and exit; repeatable.")
def shell(archive: str, commands: tuple[str, ...]) -> None:
    """Open DuckDB's command line on an archive.

    \b
    Example:
      hta-sql shell archive
      hta-sql shell archive -c "FROM hta_queries" -c "FROM temporal_breakdown()"
    """
    from hta_sql.database.shell import run_shell

    raise click.exceptions.Exit(run_shell(archive, commands))
