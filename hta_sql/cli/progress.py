"""A progress line on stderr, if that is a terminal. Each line replaces the one before."""

import sys

import click

_CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Prints the progress line. If stderr is not a terminal, only `say` prints."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()

    def show(self, line: str) -> None:
        """Replace the progress line."""
        if self._is_terminal:
            click.echo(f"{_CLEAR_LINE}{line}", err=True, nl=False)

    def say(self, line: str) -> None:
        """Print a line that stays, whether stderr is a terminal or not."""
        click.echo(f"{_CLEAR_LINE}{line}" if self._is_terminal else line, err=True)

    def clear(self) -> None:
        self.show("")
