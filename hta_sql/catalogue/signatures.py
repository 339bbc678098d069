"""Queries as methods: signatures and docstrings made of their headers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hta_sql.catalogue.query import Query
from hta_sql.errors import BadParameter

if TYPE_CHECKING:
    import pyarrow as pa


def method_of(query: Query, ask: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
    """A function that asks a query, with its parameters by name; its header is the docstring."""

    def call(*args: Any, **parameters: Any) -> pa.Table:
        if args:
            raise BadParameter(f"{query.name} takes its parameters by name: {signature}")
        return ask(query.name, **parameters)

    parameters = []
    for p in query.parameters:
        default = inspect.Parameter.empty if p.default is None else _SqlText(p.default)
        parameters.append(
            inspect.Parameter(
                p.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_SqlText(p.type)
            )
        )
    signature = inspect.Signature(parameters, return_annotation=_SqlText("pyarrow.Table"))
    call.__name__ = call.__qualname__ = query.name
    call.__doc__ = _docstring(query)
    call.__signature__ = signature
    return call


class _SqlText(str):
    """A type or default in a signature, shown as the SQL has it."""

    def __repr__(self) -> str:
        return str(self)


def _docstring(query: Query) -> str:
    width = max(len(column.name) for column in query.columns)
    parts = [query.summary, query.text]
    if query.parameters:
        parts += ["Parameters:\n" + "\n".join(f"    {p}: {p.text}" for p in query.parameters)]
    parts += [
        "Columns:\n" + "\n".join(f"    {c.name:{width}}  {c.type}, {c.text}" for c in query.columns)
    ]
    return "\n\n".join(filter(None, parts))
