"""What the user says of the steps of traces."""

from __future__ import annotations

from typing import NamedTuple

import duckdb

from hta_sql.errors import BadParameter, one_line


class OwnSteps(NamedTuple):
    """How the user's steps are named: a pattern, and rules (name_pattern, framework)."""

    pattern: str | None = None
    rules: tuple[tuple[str, str], ...] = ()


NOT_NAMED = OwnSteps()


def check_pattern(pattern: str | None) -> None:
    """Raise BadParameter if it is no regular expression."""
    if pattern is None:
        return
    try:
        duckdb.execute("SELECT regexp_matches('', ?)", [pattern])
    except duckdb.Error as error:
        raise BadParameter(f"steps is {pattern!r}: {one_line(error)}") from error
