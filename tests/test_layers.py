"""What import-linter does not see of how the code is laid out: names, imports, lengths of files."""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
PACKAGE = sorted((PROJECT / "hta_sql").rglob("*.py"))
CODE = [
    *PACKAGE,
    *sorted((PROJECT / "benchmarks").glob("*.py")),
    *sorted((PROJECT / "tests").rglob("*.py")),
    PROJECT / "hatch_build.py",
]
MOST_LINES = 300
# Of named tuples, of fsspec and of Ray's quiet start, which has no other switch.
PUBLIC = {"_replace", "_asdict", "_fields", "_strip_protocol", "_worker_logs_enabled"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def used_of_others(tree: ast.Module) -> set[str]:
    """Private names that a module imports, or takes of what is neither itself nor a module."""
    found = set()
    own_or_strange = {"self", "cls", "super()"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            own_or_strange |= {n.name for n in node.names if not n.name.startswith("hta_sql")}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            found |= set() if ast.unparse(node.value) in own_or_strange else {node.attr}
    return set(filter(is_private, found)) - PUBLIC


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_no_private_name_is_used_from_outside(path):
    assert used_of_others(ast.parse(path.read_text(encoding="utf-8"))) == set()


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_imports_are_absolute(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    relative = [node.lineno for node in ast.walk(tree) if getattr(node, "level", 0)]
    assert relative == []


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_files_are_short(path):
    text = path.read_text(encoding="utf-8")
    is_defended = any(line.startswith("# Over 300 lines: ") for line in text.splitlines())
    assert len(text.splitlines()) <= MOST_LINES or is_defended
