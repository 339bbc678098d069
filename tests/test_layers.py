"""What import-linter does not see of how the code is laid out: names, imports, lengths of files."""

import ast
from collections import defaultdict
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


def folder_of(path: Path) -> str:
    """The folder of hta_sql that a module is in; of those in none, its own name."""
    return path.relative_to(PROJECT / "hta_sql").parts[0]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def defined_in(tree: ast.Module) -> set[str]:
    """Private names that a module gives to functions, classes, variables and attributes."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return set(filter(is_private, found))


def used_of_others(tree: ast.Module) -> set[str]:
    """Private names that a module imports, or takes of what is not itself."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            found |= set() if is_own else {node.attr}
    return set(filter(is_private, found))


def test_no_private_name_crosses_folders():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE}
    defined: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        defined[folder_of(path)] |= defined_in(tree)
    everywhere = set().union(*defined.values())
    crossing = {
        f"{path.relative_to(PROJECT)}: {name}"
        for path, tree in trees.items()
        for name in used_of_others(tree) & everywhere - defined[folder_of(path)]
    }
    assert crossing == set()


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
