"""The statements of a file under sql/: each begins with CREATE OR REPLACE and ends with `;`."""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"^CREATE OR REPLACE (?:MACRO|VIEW) .*?;$", re.MULTILINE | re.DOTALL)
_DEFINITION = re.compile(
    r"CREATE OR REPLACE (?:MACRO (\w+)\(.*?\) AS( TABLE)?|VIEW (\w+) AS)\s(.*);", re.DOTALL
)


def statements(sql: str) -> list[str]:
    """The statements of a file, without the comments above them."""
    return _STATEMENT.findall(sql)


def definition(statement: str) -> tuple[str, str]:
    """The macro or view that a statement defines, and a SELECT with its body."""
    macro, is_table, view, body = _DEFINITION.fullmatch(statement).groups()
    return macro or view, body if view or is_table else f"SELECT {body}"
