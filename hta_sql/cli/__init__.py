"""The command line. Each module has one group of commands."""

from hta_sql.cli.program import cli, main

__all__ = ["cli", "main"]
