"""Keeps pandas out of processes in which nobody asks for it.

Arrow, plotly and DuckDB import pandas if it is installed. That takes longer than a small trace.
"""

import sys


class _NotInstalled:
    """Finds no pandas, as if it were not installed. Setting `sys.modules["pandas"]` to None is not
    enough: Arrow takes that for a module."""

    @staticmethod
    def find_spec(name: str, path: object, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not used by hta-sql", name=name)


def hide_pandas() -> None:
    """Let imports of pandas fail from now on. Only for processes in which no code of users runs:
    Arrow tables have no `to_pandas()` there."""
    sys.meta_path.insert(0, _NotInstalled)
