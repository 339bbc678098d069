"""Lets strangers ask: one SELECT on the tables and queries of the archives, and nothing else.

DuckDB's settings shut out files, the network and extensions. But with settings alone, COPY and
ATTACH still write into an archive, and queries still read its files past its views. So a statement
runs only if DuckDB parses it as one SELECT, and if everything that the parsed tree names is on a
list. Queries run as they are, since only the caller's own text is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb

from hta_sql.database.layers import literal
from hta_sql.errors import HtaSqlError, one_line

# A longer text is no question. DuckDB's parser takes memory for each bracket.
MOST_BYTES = 100_000
SPILL = "4GB"
NO_ROWS = "the SQL has no statement that returns rows; give a SELECT"

# For all SQL of users: none sees variables of their Python, or makes DuckDB download code.
WITHOUT_SURPRISES = {
    "python_enable_replacements": False,
    "python_scan_all_frames": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
}
_LOCKED = {
    "autoload_known_extensions": False,
    "allow_extension_repositories": "forbidden",
    "allow_persistent_secrets": False,
    "max_temp_directory_size": SPILL,
    # Notebooks turn the progress bar on for each cursor; hta_sql sets the others.
    "allowed_configs": ["enable_progress_bar", "disabled_optimizers", "search_path"],
    "max_expression_depth": 250,
    "enable_external_access": False,
    "lock_configuration": True,
}

_TABLE_FUNCTIONS = {
    "generate_series", "generate_subscripts", "json_each", "json_tree", "range", "repeat",
    "repeat_row", "unnest",
}  # fmt: skip
# Functions that change or describe the process, wait, run SQL, or read raw memory.
_REFUSED = re.compile(
    r"(getvariable|current_(catalog|query|role|setting|transaction|connection)|in_search_path|get_block_size"
    r"|pg_|inet_|has_.*_privilege|has_foreign_|txid_|user$|session_user|__internal|index_key"
    r"|json_(serialize|deserialize|execute)|to_aggregate_state|finalize|combine|invoke"
    r"|variant_bytes|parse_duckdb_log|archive_manifest|rank_files|job_files|result_files|.*description$|stats$|remap_struct)"
)
# They give another value each time, and do no harm.
_VOLATILE = {"error", "gen_random_uuid", "random", "setseed", "uuid", "uuidv4", "uuidv7"}
_SHOWN = {'"tables"', "__show_tables_expanded"}

_CLASSES = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "DEFAULT", "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "PARAMETER", "POSITIONAL_REFERENCE",
    "STAR", "SUBQUERY", "TYPE", "WINDOW",
}  # fmt: skip
_NODES = {
    "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE",
    "JOIN", "SUBQUERY", "EXPRESSION_LIST", "EMPTY", "PIVOT",
    "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "ORDER_MODIFIER", "DISTINCT_MODIFIER",
    "ORDER_DEFAULT", "ASCENDING", "DESCENDING",
}  # fmt: skip


def lock(con: duckdb.DuckDBPyConnection, folders: Iterable[str], spill: Path) -> None:
    """Let a connection read only files in these folders, and keep its settings from now on.

    `spill` is the folder for what does not fit in memory.
    """
    found = [folder.rstrip("/") + "/" for folder in folders]
    con.execute(f"SET allowed_directories = {literal(found)}")
    con.execute(f"SET temp_directory = {literal(str(spill))}")
    con.execute(";".join(f"SET {name} = {literal(value)}" for name, value in _LOCKED.items()))


def one_statement(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """The only statement of a text; raises HtaSqlError if there are more, or if it downloads."""
    found = con.extract_statements(sql)
    if len(found) != 1:
        several = "the SQL has several statements; give one"
        raise HtaSqlError(several if found else NO_ROWS)
    [statement] = found
    if statement.type.name == "LOAD" and not _LOAD.match(statement.query):
        raise HtaSqlError("hta_sql does not install extensions; install them in DuckDB's own shell")
    return statement


_LOAD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*LOAD\b", re.IGNORECASE | re.DOTALL)


class Sandbox:
    """What the SQL of strangers may name, in a connection that has all macros and views."""

    def __init__(self, con: duckdb.DuckDBPyConnection, queries: Iterable[str]) -> None:
        # Relations that are not queries take the names of tables, or of files, as text.
        self._queries = {name.lower() for name in queries}
        self._tables = {
            name.lower()
            for (name,) in con.execute(
                "SELECT view_name FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        }
        self._functions = {"unnest"} | {
            name.lower()
            for name, is_volatile in con.execute(
                "SELECT function_name, bool_or(coalesce(stability, '') = 'VOLATILE') "
                "FROM duckdb_functions() "
                "WHERE function_type IN ('scalar', 'aggregate', 'window', 'macro') "
                "AND (internal OR function_type = 'macro') GROUP BY ALL"
            ).fetchall()
            if (name in _VOLATILE or not is_volatile) and not _REFUSED.match(name.lower())
        }

    def admit(self, con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
        """The statement, if it is one SELECT that names nothing else; else HtaSqlError."""
        if len(sql.encode(errors="replace")) > MOST_BYTES:
            raise HtaSqlError(f"the SQL is longer than {MOST_BYTES // 1000} kB")
        statement = one_statement(con, sql)
        if statement.type.name == "MULTI":
            raise HtaSqlError("safe SQL needs the values of a PIVOT: PIVOT … ON column IN (…)")
        if statement.type.name != "SELECT":
            raise HtaSqlError(
                "safe SQL runs one SELECT, FROM, WITH, VALUES, DESCRIBE, SUMMARIZE or SHOW TABLES, "
                f"no {statement.type.name.replace('_', ' ')}"
            )
        import orjson  # not at the top: opening an archive does not need it

        [(text,)] = con.execute("SELECT json_serialize_sql($1::VARCHAR)", [sql]).fetchall()
        try:
            parsed = orjson.loads(text)
        except orjson.JSONDecodeError:  # nested too deep for it
            raise HtaSqlError("the SQL is nested too deeply") from None
        if parsed["error"]:
            raise HtaSqlError(one_line(parsed["error_message"]))
        try:
            for node, ctes in _walk(parsed["statements"]):
                self._check(node, ctes)
        except (AttributeError, LookupError, TypeError) as error:  # a tree of another shape
            raise HtaSqlError("safe SQL has no statement like this") from error
        return statement

    def _check(self, node: dict[str, Any], ctes: frozenset[str]) -> None:
        """Raise HtaSqlError if this node of the tree names something else."""
        if "class" in node:
            if node["class"] not in _CLASSES:
                raise HtaSqlError(f"safe SQL has no {node['class']}")
            if node["class"] in ("FUNCTION", "WINDOW"):
                self._check_function(node, self._functions)
            return
        kind = node.get("type")
        if kind == "BASE_TABLE":
            self._check_table(node, ctes)
        elif kind == "TABLE_FUNCTION":
            self._check_function(node["function"], _TABLE_FUNCTIONS | self._queries)
        elif kind == "SHOW_REF":
            if node["show_type"] == "SHOW" and not node["query"]:
                self._check_table(node, ctes)
            elif node["show_type"] == "SHOW_SPECIAL" and node["table_name"] not in _SHOWN:
                raise HtaSqlError("safe SQL shows only tables: SHOW TABLES")
        elif isinstance(kind, str) and kind not in _NODES and not kind.endswith("_TYPE_INFO"):
            raise HtaSqlError(f"safe SQL has no {kind.removesuffix('_NODE').replace('_', ' ')}")

    def _check_table(self, node: dict[str, Any], ctes: frozenset[str]) -> None:
        path = node["qualified_name"]["path"]
        name = path[-1].lower()
        if name in self._tables and not {part.lower() for part in path[:-1]} - {"main", "memory"}:
            return
        # A table that is not there could be a file, whose name has a dot.
        if len(path) > 1 or name not in ctes or not re.fullmatch(r"[\w ]+", name):
            raise UnknownTable(path[-1], path)

    def _check_function(self, node: dict[str, Any], allowed: set[str]) -> None:
        path = node["qualified_name"]["path"]
        name = path[-1].lower()
        if name not in allowed or len(path) > 1:
            raise HtaSqlError(
                f"safe SQL has no function {'.'.join(path)}(): it reads only the archive's tables "
                "and queries"
            )


class UnknownTable(HtaSqlError):
    """The archives have no such table."""

    def __init__(self, name: str, path: list[str]) -> None:
        self.name = name
        super().__init__(
            f"safe SQL reads only the archive's tables and queries, not {'.'.join(path)}"
        )


def _walk(tree: Any) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """All nodes of a parsed statement, with the CTEs that each can read."""
    waiting: list[tuple[Any, frozenset[str]]] = [(tree, frozenset())]
    while waiting:
        node, ctes = waiting.pop()
        if isinstance(node, list):
            waiting += [(item, ctes) for item in node]
        if not isinstance(node, dict):
            continue
        for entry in (node.get("cte_map") or {}).get("map", []):
            # A CTE can read the CTEs above it, and itself if it is recursive.
            own = {entry["key"].lower()}
            is_recursive = entry["value"]["query_node"]["type"] == "RECURSIVE_CTE_NODE"
            waiting.append((entry["value"], ctes | own if is_recursive else ctes))
            ctes = ctes | own
        yield node, ctes
        for key, value in node.items():
            if key == "function" and node.get("type") == "TABLE_FUNCTION":
                waiting += [(part, ctes) for part in value.values()]
            elif key != "cte_map":
                waiting.append((value, ctes))
