"""An excerpt of a query's result: some of its columns and rows, in another order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from hta_sql.catalogue.query import Query, did_you_mean
from hta_sql.errors import BadParameter, HtaSqlError, from_duckdb, one_line

if TYPE_CHECKING:
    from hta_sql.database.session import Session


_SQL_ORDER = re.compile(r"-?(\S+) +(asc|desc)", re.IGNORECASE)
# What DuckDB says of a condition that it cannot bind or compute.
_OF_CONDITION = re.compile(
    r"(?:Binder|Catalog|Conversion|Invalid Input|Out of Range|Parser) Error: (.+)"
)
_NO_COLUMN = re.compile(r'Referenced column "([^"]+)" not found')
_NEAR = re.compile(r'at or near "([^"]+)"')


@dataclass(frozen=True)
class Excerpt:
    """What to keep of a result.

    `columns` are all if none is named. `sort` names columns, and those with a minus come in
    descending order. `where` is an SQL condition on the columns of the result.
    """

    columns: Sequence[str] = ()
    sort: Sequence[str] = ()
    where: str | None = None
    limit: int | None = None

    def check(self, query: Query) -> None:
        """Raise BadParameter if the result has no such column."""
        for key in self.sort:
            if order := _SQL_ORDER.fullmatch(key):
                minus = "-" if order[2].lower() == "desc" else ""
                raise BadParameter(f"--sort: {key!r} is no column; write {minus}{order[1]}")
        for option, names in (
            ("--columns", self.columns),
            ("--sort", [name.removeprefix("-") for name in self.sort]),
        ):
            for at, name in enumerate(names):
                if name not in (column.name for column in query.columns):
                    raise BadParameter(f"{option}: {no_column(query, name)}")
                if name in names[:at]:
                    raise BadParameter(f"{option}: {name} is given twice")

    def sql(self, session: Session, query: Query, call: str) -> str:
        """The SELECT of the excerpt, around a call of the query.

        DuckDB then computes only what the excerpt needs. Rows that are equal in the columns of
        `sort` keep one order, that of the columns which identify a row.
        """
        self.check(query)
        if self == ALL:
            return call
        if self.sort and call.startswith(f"FROM {query.macro}("):
            session.con.execute(query.unordered)
            call = call.replace(query.macro, f"{query.macro}_unordered", 1)
        parts = [f"SELECT {_listed(self.columns) or '*'} FROM ({call}) AS {query.name}"]
        if self.where is not None:
            parts.append(f"WHERE ({_one_condition(session, query, self.where)}\n)")
        if self.sort:
            given = [name.removeprefix("-") for name in self.sort]
            keys = [
                f'"{name}" {"DESC" if key.startswith("-") else "ASC"} NULLS LAST'
                for key, name in zip(self.sort, given, strict=True)
            ]
            rest = [f'"{name}"' for name in query.grain if name not in given]
            parts.append(f"ORDER BY {', '.join(keys + rest)}")
        if self.limit is not None:
            parts.append(f"LIMIT {self.limit:d}")
        return " ".join(parts)


ALL = Excerpt()


def no_column(query: Query, name: str) -> str:
    """That the result of a query has no such column, and which columns it has."""
    names = [column.name for column in query.columns]
    return (
        f"{query.name} has no column {name!r}; {did_you_mean(name, names)}"
        f"its columns are {', '.join(names)}"
    )


def wrong_condition(query: Query, where: str | None, error: Exception) -> BadParameter | None:
    """What is wrong with the condition, if an error of a call with one is about it.

    A query itself binds, and converts no values, so that such errors are the condition's.
    """
    said = _OF_CONDITION.match(one_line(error))
    if where is None or not said or type(from_duckdb(error)) is not HtaSqlError:
        return None
    missing = _NO_COLUMN.search(said[1])
    if not missing:
        return BadParameter(f"--where: {said[1]}")
    name = missing[1]
    hint = f"; write a text as '{name}', in single quotes" if f'"{name}"' in where else ""
    return BadParameter(f"--where: {no_column(query, name)}{hint}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _one_condition(session: Session, query: Query, text: str) -> str:
    """The text if it is one expression, else BadParameter.

    It has to be one with brackets around it and without them. The first refuses all that can follow
    a condition in a SELECT, and the second a text that closes the bracket itself.
    """
    if not text.strip():
        raise BadParameter("--where takes one SQL condition; the text is empty")
    try:
        found = [
            session.con.extract_statements(f"SELECT 1 WHERE {form}")
            for form in (text, f"({text}\n)")
        ]
    except duckdb.Error as error:
        near = _NEAR.search(said := one_line(error))
        if near and near[1] in _keywords(session, query):
            said += f"; {near[1]} is also a keyword, so put the column in double quotes"
        raise BadParameter(f"--where takes one SQL condition: {said}") from error
    if any(len(statements) != 1 for statements in found):
        raise BadParameter("--where takes one SQL condition, without ';'")
    return text


def _keywords(session: Session, query: Query) -> set[str]:
    """The columns whose names SQL reads only in double quotes."""
    found = session.con.execute(
        "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    )
    return {name for (name,) in found.fetchall()} & {column.name for column in query.columns}
