"""Where the files of sql/ are."""

from __future__ import annotations

from pathlib import Path


def sql_root() -> Path:
    """Where sql/ is: inside the package when installed from a wheel, else beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "_sql"
    return inside if inside.is_dir() else package.parent / "sql"
