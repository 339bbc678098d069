"""Errors that are the user's to mend: one line each, saying what, where and what to do."""

import re

# How a query itself says so, by SQL's error().
_REFUSED = re.compile(r"Invalid Input Error: (\w+: \w+ is .+|no job '.+)")

_TRACEBACK = "Traceback (most recent call last):"
_TYPE = re.compile(r"^[\w.]+: ")


class HtaSqlError(Exception):
    """Anything hta_sql refuses to do; its text is one line for people."""


class CatalogError(HtaSqlError):
    """A file under sql/ does not keep the rules; the text starts with path:line."""


class UnknownQuery(HtaSqlError, AttributeError):
    """No query of that name or version in the catalogue.

    Also an AttributeError, since queries are the methods of an Archive: hasattr() works.
    """


class BadParameter(HtaSqlError):
    """A query was given a parameter that it does not have, or a value of the wrong type."""


class ArchiveError(HtaSqlError):
    """What was given as an archive is not one, or cannot be read."""


class FilesMoved(ArchiveError):
    """Files were moved or taken away while they were read: what was read may lack rows."""


class IngestError(HtaSqlError):
    """Traces could not be found, told apart or read."""


def one_line(error: Exception, at_most: int = 400) -> str:
    """A library's error text as one line, without the quoted source that DuckDB appends."""
    text = str(error).split("\n\nLINE ")[0]
    if _TRACEBACK in text:  # of what DuckDB has called
        text = _TYPE.sub("", text.strip().splitlines()[-1])
    text = " ".join(text.split())
    return text if len(text) <= at_most else text[: at_most - 1] + "…"


def from_duckdb(error: Exception, before: str = "") -> HtaSqlError:
    """DuckDB's error as ours; of a value that a query refuses, what the query says."""
    text = one_line(error)
    refused = _REFUSED.search(text)
    return BadParameter(refused[1]) if refused else HtaSqlError(before + text)
