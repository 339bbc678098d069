"""Values that scripts give: NumPy's numbers and arrays become Python's."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np

from hta_sql.errors import BadParameter


def number(what: str, given: Any) -> int:
    """A whole number, such as a rank; raises BadParameter for anything else."""
    try:
        return index(given)
    except TypeError:
        raise BadParameter(f"{what} is {given!r}; give one whole number") from None


def numbers(what: str, given: Iterable[int] | None) -> list[int]:
    """A list of whole numbers, empty for None; raises BadParameter for anything else."""
    if given is None:
        return []
    try:
        return [index(each) for each in given]
    except TypeError:
        raise BadParameter(f"{what} is {given!r}; give a list of whole numbers") from None


def plain(given: Any) -> Any:
    """The value for a query: DuckDB takes none of NumPy's numbers."""
    if isinstance(given, np.generic | np.ndarray):
        return given.tolist()
    return [plain(each) for each in given] if isinstance(given, list | tuple) else given
