"""Runs a user's statement in a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.database.hints import hint_of
from hta_sql.database.sandbox import NO_ROWS, UnknownTable
from hta_sql.errors import HtaSqlError, from_duckdb, one_line

if TYPE_CHECKING:
    from hta_sql.database.session import Session


def relation_of_sql(
    session: Session, sql: str, params: Any, called: Iterable[str]
) -> duckdb.DuckDBPyRelation:
    """The result of a statement, not yet fetched; `called` are the queries that it may call.

    Raises HtaSqlError, whose message suggests names that are close to one that is missing.
    """
    try:
        statement = session.statement(sql)
        session.see(None)
        session.load(called)
        relation = session.con.sql(statement, params=params)
    except UnknownTable as error:
        missing = f"Table with name {error.name} does not exist"
        raise HtaSqlError(hint_of(session, missing) or str(error)) from error
    except duckdb.CatalogException as error:
        raise HtaSqlError(hint_of(session, str(error)) or one_line(error)) from error
    except (duckdb.Error, ValueError) as error:
        raise from_duckdb(error) from error
    if relation is None:
        raise HtaSqlError(NO_ROWS)
    return relation
