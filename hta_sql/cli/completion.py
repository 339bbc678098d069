"""Completion of commands, options and names in a shell, on TAB."""

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

import click
from click.shell_completion import CompletionItem, get_completion_class

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.cli.options import OneOf

VARIABLE = "_HTA_SQL_COMPLETE"
# The arguments that are paths, and the options that are jobs or queries.
_PATHS = {"archive", "archives", "paths", "traces", "base", "test", "exported"}
_JOBS = {"only_jobs", "job", "jobs", "base_job", "test_job", "newest_job"}
_QUERIES = {"query", "table"}


@click.command()
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes words on TAB.

    The shell then completes commands, queries, options, formats, columns, and the jobs of an
    archive on disk.

    \b
    Example:
      echo 'eval "$(hta-sql completion bash)"' >> ~/.bashrc
      echo 'eval "$(hta-sql completion zsh)"' >> ~/.zshrc
      hta-sql completion fish > ~/.config/fish/completions/hta-sql.fish
    """
    made = get_completion_class(shell)
    script = made(ctx.find_root().command, {}, "hta-sql", VARIABLE).source()
    # click's script for fish cuts words and descriptions at their own commas.
    click.echo(script.replace('string split ","', 'string split --max 1 ","'))


def is_completing() -> bool:
    """Whether the shell asks for words, in place of a command of the user."""
    return os.environ.get(VARIABLE, "").endswith("_complete")


class ArchivePath(click.types.StringParamType):
    """A text that the shell completes as a path."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class JobName(click.types.StringParamType):
    """A job of the archives of the command line, which is completed if they are on disk."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        # While an option has no value yet, click has not assigned the arguments.
        given = ctx.params.get("archives") or [ctx.params.get("archive"), *ctx.args]
        folders = (
            folder
            for archive in given
            if isinstance(archive, str) and "://" not in archive
            for folder in Path(archive, "events").glob("job=*")
        )
        names = (unquote(folder.name.removeprefix("job=")) for folder in folders)
        return begin_with(incomplete, names)


class QueryName(click.types.StringParamType):
    """A query."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        queries = Catalog.load().newest.values()
        if param.name == "table":  # of `diff`
            queries = [q for q in queries if "base_job" in {p.name for p in q.parameters}]
        return queries_with(incomplete, queries)


def queries_with(beginning: str, queries: Iterable[Query]) -> list[CompletionItem]:
    return [CompletionItem(q.name, help=q.summary) for q in queries if q.name.startswith(beginning)]


def add_completion(command: click.Command) -> None:
    """Complete the paths and jobs that a command takes, or all commands of a group."""
    for below in getattr(command, "commands", {}).values():
        add_completion(below)
    for param in command.params:
        if isinstance(param, click.Argument) and param.name in _PATHS:
            param.type = ArchivePath()
        elif param.name in _JOBS:
            param.type = JobName()
        elif param.name in _QUERIES:
            param.type = QueryName()


def begin_with(word: str, names: Iterable[str]) -> list[CompletionItem]:
    """Those names that the last part of a word with commas begins; a minus may be before it."""
    before, comma, last = word.rpartition(",")
    minus = "-" * last.startswith("-")
    return [
        CompletionItem(f"{before}{comma}{minus}{name}")
        for name in sorted(set(names))
        if name.startswith(last.removeprefix("-"))
    ]
