"""What queries share: relations that a session computes once.

The comment above the statement of such a relation has a line `-- shared: session`: sessions on
small archives share it. With `-- shared: session, of any size`, sessions on large ones do, too. A
view is shared as a table with its rows. A macro is shared if it has no parameter, or one that
chooses jobs: its rows are computed for all jobs, and those of a call are chosen among them. A macro
whose parameter is the name of a relation says which macro has all rows that it may be given, and by
which columns its own rows belong to them:

    -- shared: session, PARAMETER: MACRO by COLUMN, COLUMN
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hta_sql.catalogue.statements import definition
from hta_sql.errors import CatalogError

# Tables and macros in this schema take the place of those in `main`; see database/shared.py.
SCHEMA = "shared"

_STATEMENT = re.compile(
    r"((?:^--[^\n]*\n)+)(CREATE OR REPLACE (?:MACRO|VIEW) .*?;)$", re.MULTILINE | re.DOTALL
)
_DECLARED = re.compile(r"^-- shared: (.*(?:\n--   .*)*)$", re.MULTILINE)
_ANY_SIZE = ", of any size"
_HOW = re.compile(rf"session(?:{_ANY_SIZE})?(?:, (\w+): (\w+) by (\w+(?:, \w+)*))?")
_PARAMETERS = re.compile(r"MACRO \w+\((.*?)\) AS TABLE", re.DOTALL)
_OF_JOBS = ("jobs", "only_jobs")


class Shared(NamedTuple):
    """A shared relation: the statements that make it, and whether large archives share it."""

    statements: tuple[str, ...]
    is_of_any_size: bool = False


def shared_in(path: Path, text: str) -> dict[str, Shared]:
    """The relations of a file that sessions share."""
    found = {}
    for comment, statement in _STATEMENT.findall(text):
        if declared := _DECLARED.search(comment):
            how = re.sub(r"\n-- +", " ", declared[1])
            made = _made(path, statement, how)
            found[definition(statement)[0]] = Shared(made, _ANY_SIZE in how)
    return found


def _made(path: Path, statement: str, how: str) -> tuple[str, ...]:
    name, body = definition(statement)
    said, parameters = _HOW.fullmatch(how), _PARAMETERS.search(statement)
    table = f"{SCHEMA}.rows_of_{name}" if parameters else f"{SCHEMA}.{name}"
    if said and not parameters:
        # What a view in `main` reads is found there alone. The names in its text are found in
        # SCHEMA, too. But a table without files is another view than its text.
        return (f"CREATE TABLE {table} AS {f'FROM main.{name}' if _is_table(path) else body}",)
    taken = (
        [word.strip() for word in parameters[1].split(",") if word.strip()] if parameters else []
    )
    macro = f"CREATE MACRO {SCHEMA}.{name}({', '.join(taken)}) AS TABLE FROM {table} AS s"
    if said and not said[1] and not taken:
        return (f"CREATE TABLE {table} AS FROM main.{name}()", macro)
    if said and not said[1] and len(taken) == 1 and taken[0] in _OF_JOBS:
        [jobs] = taken
        return (
            f"CREATE TABLE {table} AS FROM main.{name}(NULL)",
            f"{macro} WHERE ({jobs} IS NULL OR list_contains({jobs}, s.job))",
        )
    if said and [said[1]] == taken:
        given, everything, columns = said.groups()
        same = " AND ".join(f"c.{key} IS NOT DISTINCT FROM s.{key}" for key in columns.split(", "))
        return (
            f"CREATE TABLE {table} AS WITH everything AS MATERIALIZED (FROM {everything}()) "
            f"FROM main.{name}(everything)",
            f"{macro} SEMI JOIN query_table({given}) AS c ON {same}",
        )
    raise CatalogError(f"{path.name}: {name} cannot be shared like this: -- shared: {how}")


def _is_table(path: Path) -> bool:
    return path.parent.name == "tables"


def sharing(
    shared: Mapping[str, Shared], reads: Mapping[str, Iterable[str]]
) -> tuple[dict[str, Shared], dict[str, tuple[str, ...]]]:
    """The shared relations, each after those that it reads, and which of them each name needs.

    `reads` has the names that each view and macro reads, its own not included. A shared relation
    stands for all that it reads.
    """

    def needed(names: Iterable[str]) -> tuple[str, ...]:
        found, seen, waiting = set(), set(), list(names)
        while waiting:
            name = waiting.pop()
            if name in shared:
                found.add(name)
            elif name not in seen:
                seen.add(name)
                waiting += reads.get(name, ())
        return tuple(sorted(found))

    of_shared = {}
    for name, made in shared.items():
        everything = re.findall(
            r"everything AS MATERIALIZED \(FROM (\w+)\(\)\)", made.statements[0]
        )
        of_shared[name] = needed({*reads[name], *everything} - {name})
    ordered: dict[str, Shared] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for before in of_shared[name]:
                add(before)
            ordered[name] = shared[name]

    for name in sorted(shared):
        add(name)
    return ordered, {name: found for name in reads if (found := needed([name]))}
