"""The rules of `findings`: one file each in sql/findings, made into one macro by discovery.

A rule is a macro `find_<rule>`, and what several rules need is a macro `shared_<name>` in
sql/findings/shared. Their parameters are names: `only_jobs`, or the name of a shared relation. So
each shared relation is computed once, and a new rule is one new file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

from hta_sql.catalogue.header import names_read
from hta_sql.catalogue.sharing import shared_in
from hta_sql.catalogue.statements import definition, statements
from hta_sql.errors import CatalogError

_SIGNATURE = re.compile(
    r"^CREATE OR REPLACE MACRO (find|shared)_(\w+)\((.*?)\) AS TABLE", re.MULTILINE | re.DOTALL
)
GIVEN = "only_jobs"
MADE = "found_by_rules"


def rule_files(root: Path) -> dict[Path, str]:
    """The files of sql/findings and their texts, and the text of the macro that is made of them."""
    files = written_files(root)
    made = root / "findings" / f"{MADE}.sql"  # no file: the text is made here
    return files | {made: found_by_rules(files, shared_views(root, files))} if files else {}


def written_files(root: Path) -> dict[Path, str]:
    """The files of sql/findings and their texts."""
    paths = sorted((root / "findings").rglob("*.sql"))
    return {path: path.read_text(encoding="utf-8") for path in paths}


def takes_of(files: Mapping[Path, str]) -> dict[str, dict[str, list[str]]]:
    """What each macro takes: {"shared": {name: parameters}, "find": {rule: parameters}}."""
    takes: dict[str, dict[str, list[str]]] = {"shared": {}, "find": {}}
    for path, text in files.items():
        signature = _SIGNATURE.search(text)
        if not signature or signature[2] != path.stem:
            raise CatalogError(
                f"{path.name}: a rule is a macro find_{path.stem}, and a relation in shared is a "
                f"macro shared_{path.stem}"
            )
        kind, name, parameters = signature.groups()
        takes[kind][name] = [word.strip() for word in parameters.split(",") if word.strip()]
    return takes


def before(given: list[str]) -> list[str]:
    """The shared relations among the parameters of a macro."""
    return [name for name in given if name != GIVEN]


def shared_views(root: Path, files: Mapping[Path, str]) -> dict[str, str]:
    """The shared views that rules read, each after those that it reads, and a SELECT of its rows.

    What macros read is followed, by the lines `-- reads:` of their files.
    """
    homes: dict[str, tuple[str, list[str]]] = {}  # a SELECT if it is shared, and what it reads
    for path in sorted([*(root / "tables").glob("*.sql"), *(root / "relations").rglob("*.sql")]):
        text = path.read_text(encoding="utf-8")
        is_shared, read = set(shared_in(path, text)), names_read(text)
        for statement in statements(text):
            name, body = definition(statement)
            is_view = statement.startswith("CREATE OR REPLACE VIEW")
            rows = f"FROM main.{name}" if path.parent.name == "tables" else body
            homes[name] = rows if is_view and name in is_shared else "", read
    found: dict[str, str] = {}
    seen: set[str] = set()

    def follow(names: Iterable[str]) -> None:
        for name in names:
            if name in homes and name not in seen:
                seen.add(name)
                rows, read = homes[name]
                if not rows.startswith("FROM main."):
                    follow(read)
                if rows:
                    found[name] = rows

    for text in files.values():
        follow(names_read(text))
    return found


def found_by_rules(files: Mapping[Path, str], views: Mapping[str, str]) -> str:
    """The statement that defines the macro `found_by_rules(only_jobs)`: the rows of all rules.

    Each of the `views` is computed once, for all macros in the statement: DuckDB looks the names in
    a macro up among the CTEs around its call.
    """
    takes = takes_of(files)
    order = TopologicalSorter({name: before(given) for name, given in takes["shared"].items()})
    ctes = [f"{name} AS MATERIALIZED (\n{rows}\n)" for name, rows in views.items()]
    ctes += [
        f"{name} AS MATERIALIZED (FROM shared_{name}({', '.join(takes['shared'][name])}))"
        for name in order.static_order()
    ]
    rules = [
        f"SELECT '{name}' AS rule, * FROM find_{name}({', '.join(given)})"
        for name, given in takes["find"].items()
    ]
    union = "\nUNION ALL BY NAME ".join(["FROM finding_rows()", *rules])
    return (
        f"CREATE OR REPLACE MACRO {MADE}({GIVEN}) AS TABLE\nWITH "
        + ",\n".join([*ctes, f"found AS (\n{union}\n)"])
        + "\nFROM ranked_findings(found, scopes, comm_ranks);"
    )
