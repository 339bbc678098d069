"""The command line; a module a group of commands."""

from hta_sql.cli.program import cli, main

__all__ = ["cli", "main"]
