"""A query as its file describes it, and the SQL that calls it."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hta_sql.catalogue.needs import Requirement
from hta_sql.errors import BadParameter

_LAST_ORDER = re.compile(r"\nORDER BY\b([^;]*);\s*\Z")
_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a query.

    `default` is SQL text, or None if a value is required. `shown_default` is the default in words,
    such as "all" for NULL.
    """

    name: str
    type: str
    default: str | None
    text: str
    shown_default: str | None

    @property
    def is_list(self) -> bool:
        return self.type.endswith("[]")

    def __str__(self) -> str:
        default = "" if self.default is None else f" := {self.default}"
        return f"{self.name} {self.type}{default}"

    def value(self, given: Any) -> Any:
        """`given` in a form that DuckDB can bind; ValueError or TypeError for a wrong type."""
        if given is None:
            return None
        if not self.is_list:
            return _scalar(self.type, given)
        alone = isinstance(given, str) or not hasattr(given, "__iter__")
        return [_scalar(self.type[:-2], item) for item in ([given] if alone else given)]


@dataclass(frozen=True)
class Column:
    """One column of a query's result; `unit` is ``-`` if it has none."""

    name: str
    type: str
    unit: str
    text: str


@dataclass(frozen=True)
class Query:
    """One query file."""

    name: str
    version: int
    theme: str
    path: Path
    summary: str
    text: str
    since: str
    grain: tuple[str, ...]
    columns: tuple[Column, ...]
    parameters: tuple[Parameter, ...]
    checks: tuple[str, ...]
    needs: tuple[Requirement, ...]
    deprecated: str | None
    sql: str = field(repr=False)

    @property
    def macro(self) -> str:
        return f"{self.name}_v{self.version}"

    @property
    def alias(self) -> str:
        """The statement that defines the query's name without a version.

        It calls the macro with the version: a second copy would double the time to open an archive.
        """
        parameters = ", ".join(map(str, self.parameters))
        given = ", ".join(f"{p.name} := {p.name}" for p in self.parameters)
        return (
            f"CREATE OR REPLACE MACRO {self.name}({parameters}) AS TABLE "
            f"FROM {self.macro}({given});"
        )

    @property
    def unordered(self) -> str:
        """The statement that defines the macro again, for one connection, without the order of its
        rows. All queries end with an ORDER BY, which DuckDB would carry out before any other.
        """
        body = _LAST_ORDER.sub(";", self.sql)
        made = f"CREATE OR REPLACE TEMP MACRO {self.macro}_unordered("
        return body.replace(f"CREATE OR REPLACE MACRO {self.macro}(", made)

    @property
    def order(self) -> str:
        """What its rows are ordered by: the ORDER BY at its end, without the names of tables."""
        return re.sub(r"\b[a-z]\w*\.", "", _LAST_ORDER.search(self.sql)[1].strip())

    @property
    def compares(self) -> bool:
        """Whether it compares two jobs, a base and a test."""
        return {"base_job", "test_job"} <= {p.name for p in self.parameters}

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.default is None)

    def __str__(self) -> str:
        return self.macro

    def needs_of(self, values: Mapping[str, Any]) -> list[str]:
        """What a call with these values needs from the archive, as names in NEEDS."""
        defaults = {p.name: p.default for p in self.parameters}
        return [need.need for need in self.needs if need.applies(values, defaults)]

    def call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The SQL that calls the query, and the values to bind; BadParameter if one is wrong."""
        known = {p.name: p for p in self.parameters}
        values = {}
        for name, value in given.items():
            if name not in known:
                raise BadParameter(f"{self.name} has no parameter {name!r}; {self._takes(name)}")
            if value is None and known[name].default is not None:
                continue  # None stands for the default
            try:
                values[name] = known[name].value(value)
            except (TypeError, ValueError):
                kind = known[name].type
                raise BadParameter(f"{self.name}: {name} is {kind}, not {value!r}") from None
        for parameter in self.required:
            if parameter.name not in values:
                raise BadParameter(f"{self.name} needs {parameter.name}: {parameter.text}")
        arguments = ", ".join(f"{name} := ${name}" for name in values)
        return f"FROM {self.macro}({arguments})", values

    def _takes(self, wrong: str) -> str:
        names = [p.name for p in self.parameters]
        return f"{did_you_mean(wrong, names)}it takes {', '.join(names) or 'none'}"


def _scalar(kind: str, given: Any) -> Any:
    """`given` if it has the type `kind`; DuckDB checks types that are not handled here."""
    if kind in _INTEGER_BITS:
        number = operator.index(given)
        if isinstance(given, bool) or not -1 <= number >> (_INTEGER_BITS[kind] - 1) <= 0:
            raise ValueError
        return number
    if kind == "DOUBLE":
        if isinstance(given, bool | str):
            raise ValueError
        return float(given)
    if kind in ("VARCHAR", "BOOLEAN") and not isinstance(given, str if kind == "VARCHAR" else bool):
        raise ValueError
    return given


def did_you_mean(wrong: str, names: Iterable[str], before: str = "", after: str = "? ") -> str:
    """A question with the name that is most like a wrong name; empty if none is similar."""
    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(wrong.lower(), lower, n=1)
    return f"{before}did you mean {lower[near[0]]!r}{after}" if near else ""
