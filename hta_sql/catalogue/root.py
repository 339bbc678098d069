"""Finds the folder sql/, and what else is beside the package."""

from __future__ import annotations

from pathlib import Path


def sql_root() -> Path:
    """The folder sql/: inside the package if it was installed from a wheel, otherwise beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "_sql"
    return inside if inside.is_dir() else package.parent / "sql"


def glossary_file() -> Path:
    """The glossary of the documentation."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "_docs" / "glossary.md"
    return inside if inside.is_file() else package.parent / "docs" / "glossary.md"
