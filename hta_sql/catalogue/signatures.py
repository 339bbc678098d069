"""Makes methods from queries, with signatures and docstrings from their headers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hta_sql.catalogue.query import Parameter, Query
from hta_sql.errors import BadParameter

if TYPE_CHECKING:
    import pyarrow as pa


def method_of(query: Query, ask: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
    """A function that calls a query with parameters by name; the docstring is its header."""

    def call(*args: Any, **parameters: Any) -> pa.Table:
        if args:
            raise BadParameter(f"{query.name} takes parameters only by name: {signature}")
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
    call.__doc__ = docstring(query)
    call.__signature__ = signature
    return call


class _SqlText(str):
    """A type or default in a signature, shown as in the SQL."""

    def __repr__(self) -> str:
        return str(self)


def docstring(query: Query) -> str:
    """A query's header as the docstring of a function."""
    width = max(len(column.name) for column in query.columns)
    parts = [query.summary, query.text]
    if query.parameters:
        parts += ["Args:\n" + "\n".join(map(_argument, query.parameters))]
    parts += [
        f"Returns:\n    pyarrow.Table, one row per {', '.join(query.grain)}:\n"
        + "\n".join(f"    {c.name:{width}}  {c.type}, {c.text}" for c in query.columns),
        "Raises:\n    BadParameter: A parameter is unknown, missing or of another type.",
        f"Examples:\n    >>> run.{query.name}({', '.join(f'{p.name}=…' for p in query.required)})",
    ]
    return "\n\n".join(filter(None, parts))


def _argument(parameter: Parameter) -> str:
    shown = parameter.shown_default
    default = "required" if shown is None else f"default: {shown}"
    return f"    {parameter.name} ({parameter.type}): {parameter.text} [{default}]"
