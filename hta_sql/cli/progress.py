"""A progress line on stderr, if that is a terminal. Each line replaces the one before."""

import sys

import click

from hta_sql.show.visible import visible

_CLEAR_LINE = "\r\x1b[K"


def say(line: object, *, before: str = "", err: bool = True) -> None:
    """Print a line that may contain texts from traces, such as names of jobs."""
    click.echo(before + visible(str(line)), err=err)


class Progress:
    """Prints the progress line. If stderr is not a terminal, only `say` prints."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()

    def show(self, line: str) -> None:
        """Replace the progress line."""
        if self._is_terminal:
            click.echo(f"{_CLEAR_LINE}{visible(line)}", err=True, nl=False)

    def say(self, line: str) -> None:
        """Print a line that stays, whether stderr is a terminal or not."""
        say(line, before=_CLEAR_LINE if self._is_terminal else "")

    def clear(self) -> None:
        self.show("")
