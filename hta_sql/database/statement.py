"""Runs a user's statement, or a call of a query, in a session."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.database.excerpt import Excerpt, wrong_condition
from hta_sql.database.hints import hint_of
from hta_sql.database.sandbox import NO_ROWS, UnknownTable
from hta_sql.database.stored_answers import prepare, with_stored
from hta_sql.errors import BadParameter, HtaSqlError, from_duckdb, one_line

if TYPE_CHECKING:
    import pyarrow as pa

    from hta_sql.catalogue.query import Query
    from hta_sql.database.session import Session

# The name of an answer that was computed elsewhere.
_ANSWER = "answer_from_elsewhere"


# Words of statements about tables and macros, which list all that a connection has.
_OF_CATALOG = re.compile(
    r"show|describe|information_schema|sqlite_\w+|pg_\w+|duckdb_\w+|pragma\w*|current_schemas?"
)


def relation_of_sql(session: Session, sql: str, params: Any) -> duckdb.DuckDBPyRelation:
    """The result of a statement, not yet fetched.

    Raises HtaSqlError, whose message suggests names that are close to one that is missing.
    """
    words = set(re.findall(r"\w+", sql.lower()))
    try:
        statement = session.statement(sql)
        if statement.type != duckdb.StatementType.SELECT:
            session.lend()  # it may create objects, change tables, or begin a transaction
        session.see(None)
        session.load(words)
        prepare(session, words)
        session.threads.use_all_for_users()
        if any(map(_OF_CATALOG.fullmatch, words)):
            session.shared.drop()
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


def relation_of_call(
    session: Session,
    query: Query,
    sql: str,
    values: dict[str, Any],
    excerpt: Excerpt,
    called: Iterable[str],
    answer: pa.Table | None,
) -> duckdb.DuckDBPyRelation:
    """An excerpt of what a call of a query returns, not yet fetched.

    `called` are the query and those that the excerpt may call. `answer` has the rows of the call
    if they were computed elsewhere.
    """
    try:
        if answer is None or excerpt.where is not None:
            session.see(values.get("only_jobs"))
            session.load(called)
        if answer is not None:
            whole = session.con.from_arrow(answer)
            return whole.query(_ANSWER, excerpt.sql(session, query, f"FROM {_ANSWER}"))
        sql, values = with_stored(session, query, sql, values)
        return session.answer(excerpt.sql(session, query, sql), values or None)
    except duckdb.Error as error:
        if isinstance(error, duckdb.BinderException) and "supplied arguments" in str(error):
            raise BadParameter(f"{query.name}: {one_line(error)}") from error
        wrong = wrong_condition(query, excerpt.where, error)
        raise wrong or from_duckdb(error, f"{query.name}: ") from error
