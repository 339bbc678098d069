"""How far the work is: a line on a terminal's stderr that the next one takes the place of."""

import sys

import click

_CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Shows lines while work goes on; none of them where stderr is no terminal."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()

    def show(self, line: str) -> None:
        """In place of the line before."""
        if self._is_terminal:
            click.echo(f"{_CLEAR_LINE}{line}", err=True, nl=False)

    def say(self, line: str) -> None:
        """A line that stays, wherever stderr is."""
        click.echo(f"{_CLEAR_LINE}{line}" if self._is_terminal else line, err=True)

    def clear(self) -> None:
        self.show("")
