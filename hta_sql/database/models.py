"""Cost models of the user: a file of SQL that says what operators compute and move.

The file is SQL that runs, so it is only read if the user names it, never from an archive.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from hta_sql.errors import HtaSqlError

# What the file has to define; sql/relations/operators/user_costs.sql has the empty ones.
_MACROS = ("user_operators", "user_costs")
_COLUMNS = (
    "shape_number::BIGINT, family::VARCHAR, is_estimated::BOOLEAN, factors::BIGINT[], "
    "formats::VARCHAR[], tensors::STRUCT(dims BIGINT[], type VARCHAR)[]"
)
_NO_CALLS = "SELECT NULL::VARCHAR AS " + ", NULL::VARCHAR AS ".join(
    ("name", "input_dims", "input_types", "concrete_inputs", "context")
)


def load_models(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Define the macros of the file, and try them without rows.

    Raises:
        HtaSqlError: The file is not as it should be.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "not a text in UTF-8"
        raise HtaSqlError(f"{file}: {said}") from error
    try:
        statements = con.extract_statements(text)
        defined = set()
        for statement in statements:
            made = re.match(
                r"(?:\s|--[^\n]*\n|/\*.*?\*/)*CREATE\s+OR\s+REPLACE\s+MACRO\s+(\w+)\s*\(",
                statement.query,
                re.IGNORECASE | re.DOTALL,
            )
            if not made:
                raise HtaSqlError(f"{file}: a statement that is not CREATE OR REPLACE MACRO")
            defined.add(made[1].lower())
            con.execute(statement)
        if lacking := [name for name in _MACROS if name not in defined]:
            needed = " and ".join(_MACROS)
            raise HtaSqlError(f"{file}: no macro {lacking[0]}; the file has to define {needed}")
        con.execute("SELECT name::VARCHAR FROM user_operators() LIMIT 0")
        con.execute(
            f"WITH no_calls AS ({_NO_CALLS} WHERE false), "
            "no_shapes AS (FROM numbered_shapes(no_calls)) "
            f"SELECT {_COLUMNS} FROM user_costs(no_shapes)"
        )
    except duckdb.Error as error:
        said = " ".join(str(error).split("\n\n")[0].split())
        raise HtaSqlError(f"{file}: {said}") from error
