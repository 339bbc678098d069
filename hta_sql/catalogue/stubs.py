"""Writes what editors and type checkers read: ``python -m hta_sql.catalogue.stubs``.

The types of open archives' methods are in hta_sql/methods.pyi, which nothing imports. It has the
queries with their parameters and headers, and the functions that are added as methods.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import hta_sql.methods
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Parameter, Query
from hta_sql.catalogue.signatures import docstring
from hta_sql.methods import Later, Methods, MethodsOfTwo

FILE = Path(hta_sql.methods.__file__).with_suffix(".pyi")
_TYPES = {
    "BIGINT": "int",
    "BOOLEAN": "bool",
    "DOUBLE": "float",
    "INTEGER": "int",
    "VARCHAR": "str",
    "BIGINT[]": "int | Iterable[int]",
    "INTEGER[]": "int | Iterable[int]",
    "VARCHAR[]": "Iterable[str]",  # a str is one
}
_DEFAULTS = {"NULL": "None", "false": "False", "true": "True"}


def stubs(catalog: Catalog) -> str:
    """The text of hta_sql/methods.pyi."""
    later = [found for found in vars(Methods).values() if isinstance(found, Later)]
    queries = list(catalog.newest.values())
    return "\n".join(
        [
            "# Generated: python -m hta_sql.catalogue.stubs",
            "",
            "from collections.abc import Iterable, Mapping",
            "",
            "import pyarrow as pa",
            "",
            *(f"from {one.module} import {one.name} as _{one.name}" for one in later),
            "",
            "def add_methods(modules: Mapping[str, str]) -> None: ...",
            *_class(Methods, queries),
            *(f"    {one.name} = _{one.name}" for one in later),
            *_class(MethodsOfTwo, [_of_two(query) for query in queries if query.compares]),
            "",
        ]
    )


def _of_two(query: Query) -> Query:
    """The query without the parameters that a comparison gives."""
    kept = [p for p in query.parameters if not p.name.startswith(("base_", "test_"))]
    return replace(query, parameters=tuple(kept))


def _class(described: type, queries: Iterable[Query]) -> Iterator[str]:
    yield f'\nclass {described.__name__}:\n    """{described.__doc__}"""\n'
    for query in queries:
        yield from _method(query)


def _method(query: Query) -> Iterator[str]:
    given = [f"        {parameter.name}: {_typed(parameter)}," for parameter in query.parameters]
    yield f"    def {query.name}("
    yield from ["        self,", *(["        *,"] if given else []), *given]
    yield "    ) -> pa.Table:"
    # Backslashes are escaped, and triple quotes too.
    text = docstring(query).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    yield f'        """{text.replace(chr(10), chr(10) + " " * 8)}\n        """\n'.replace(
        "\n        \n", "\n\n"
    )


def _typed(parameter: Parameter) -> str:
    """Type and default. None stands for the default."""
    kind = _TYPES[parameter.type]
    if parameter.default is None:
        return kind
    default = _DEFAULTS.get(parameter.default, parameter.default)
    ast.literal_eval(default)  # numbers and texts look the same in SQL and Python
    return f"{kind} | None = {default}"


if __name__ == "__main__":
    FILE.write_text(stubs(Catalog.load()), encoding="utf-8")
