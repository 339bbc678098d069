"""The columns of the tables of sql/tables, from the text of their files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_COLUMN = re.compile(r"^ +NULL::(.+?) AS (\w+)", re.MULTILINE)


@cache
def columns_of(file: Path) -> dict[str, str]:
    """The type of each column of a table in SQL, by its name."""
    return {name: kind for kind, name in _COLUMN.findall(file.read_text(encoding="utf-8"))}
