"""Errors that users can fix. Each message is one line: what is wrong, where, and what to do."""

import re
import sys

# Messages that queries themselves raise with SQL's error().
_REFUSED = re.compile(r"Invalid Input Error: (\w+: \w+ is .+|no job '.+)")

# How the message begins if a query reads a table with damaged files.
DAMAGED = "damaged archive: "

_TRACEBACK = "Traceback (most recent call last):"
_TYPE = re.compile(r"^[\w.]+: ")


class HtaSqlError(Exception):
    """An error that the user can fix; its message is one line."""


class CatalogError(HtaSqlError):
    """A file under sql/ breaks the rules; the message starts with path:line."""


class UnknownQuery(HtaSqlError, AttributeError):
    """The catalogue has no query with this name or version.

    It is also an AttributeError, so that hasattr() works: queries are methods of an Archive.
    """


class BadParameter(HtaSqlError, ValueError):
    """A query does not have this parameter, or the value has the wrong type.

    It is also a ValueError, as a wrong value is in Python and in HTA.
    """


class ArchiveError(HtaSqlError):
    """An archive does not exist or cannot be read or written."""


class FilesMoved(ArchiveError):
    """Files were moved or deleted while they were read, so the result may lack rows."""


class TimeLimit(HtaSqlError):
    """A query or statement took longer than it may."""


class MemoryLimit(HtaSqlError):
    """A query or statement needs more memory than it may use."""


class Interrupted(HtaSqlError):
    """DuckDB was interrupted from another thread."""


class IngestError(HtaSqlError):
    """Traces were not found, could not be read, or have no clear job and rank."""


class NoData(UserWarning):
    """A result has no rows, because the traces lack what the query needs."""


def one_line(error: Exception, at_most: int = 400) -> str:
    """The message of a library's error as one line, without the source that DuckDB quotes."""
    text = str(error).split("\n\nLINE ")[0]
    if _TRACEBACK in text:  # from a Python function that DuckDB called
        text = _TYPE.sub("", text.strip().splitlines()[-1])
    text = " ".join(text.split())
    return text if len(text) <= at_most else text[: at_most - 1] + "…"


def from_duckdb(error: Exception, before: str = "") -> HtaSqlError:
    """A DuckDB error as an HtaSqlError; if a query refuses a value, with the query's message."""
    text = one_line(error)
    if limit := limit_in(text):
        return limit
    if DAMAGED in text:
        return ArchiveError(text[text.index(DAMAGED) :])
    refused = _REFUSED.search(text)
    return BadParameter(refused[1]) if refused else HtaSqlError(before + text)


def limit_in(text: str) -> HtaSqlError | None:
    """The error for DuckDB's message that a limit is reached, or that it was interrupted."""
    if "Query exceeded maximum execution time" in text:
        return TimeLimit(
            "the time limit is reached; give more time, or ask for fewer jobs or ranks"
        )
    if text.startswith("INTERRUPT Error"):
        return Interrupted("interrupted")
    if text.startswith("Out of Memory Error"):
        used = re.search(r"/([\d.]+ \w+) used", text)
        of = f"the {used[1]} that DuckDB may use are" if used else "memory is"
        return MemoryLimit(
            f"{of} not enough; give more (--memory-limit, memory_limit), or ask for fewer jobs, "
            "ranks or steps"
        )
    return None


def is_interrupt(error: BaseException) -> bool:
    """Whether an error only says that the user ends the work."""
    return isinstance(error, Interrupted) or str(error) in (
        "Query interrupted",  # DuckDB's text for a signal
        "INTERRUPT Error: Interrupted!",
    )


def ends_work(error: Exception) -> bool:
    """Whether a limit is reached or the user ends the work: another attempt is of no use."""
    ends = isinstance(error, TimeLimit | MemoryLimit | Interrupted)
    return ends or is_interrupt(error) or limit_in(one_line(error)) is not None


def above_package() -> int:
    """The stacklevel with which the caller of this function warns at the user's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("hta_sql."):
        level, frame = level + 1, frame.f_back
    return level
