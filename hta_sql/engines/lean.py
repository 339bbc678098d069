"""Makes processes lean in which no code of users runs: what nobody there asks for takes no time."""

import gc
import os
import sys


class _NotInstalled:
    """Finds no pandas, as if it were not installed. Setting `sys.modules["pandas"]` to None is not
    enough: Arrow takes that for a module."""

    @staticmethod
    def find_spec(name: str, path: object, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not used by hta-sql", name=name)


def be_lean() -> None:
    """Hide pandas, let numpy start no threads, and look for garbage less often. Call it before
    Arrow is imported.

    Arrow, plotly and DuckDB import pandas if it is installed. That takes longer than a small trace,
    and Arrow tables have no `to_pandas()` afterwards. numpy starts a thread per core for products
    of matrices, which there are none of here: nearly half of what importing it takes. Python looks
    for objects that refer to each other after each 700 new ones; modules are made of far more, all
    of which stay.
    """
    gc.set_threshold(50_000, 20, 20)
    sys.meta_path.insert(0, _NotInstalled)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
