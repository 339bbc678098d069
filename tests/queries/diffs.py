"""Two small jobs."""

from typing import Any

Rows = list[dict[str, Any]]


TWO = """
    job rank
    a   0
    b   0
"""
