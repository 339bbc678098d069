"""Starts an engine by its name.

    with start("ray", address="auto") as engine:
        for item, result in engine.map(function, items):
            ...

Only the module of this engine is imported.
"""

from __future__ import annotations

from hta_sql.engines.engine import Engine
from hta_sql.errors import BadParameter, HtaSqlError

ENGINES = ("local", "ray")


def start(engine: str = "local", address: str | None = None) -> Engine:
    """The engine with this name; raises HtaSqlError if it is unknown or not installed.

    `address` is the address of a Ray cluster, in Ray's form. Without it, the engine uses
    $RAY_ADDRESS, or starts a small cluster on this machine at the first use; close() ends that
    cluster.
    """
    if engine not in ENGINES:
        raise BadParameter(f"no engine {engine!r}; the engines are {' and '.join(ENGINES)}")
    if engine == "local":
        if address is not None:
            raise BadParameter(f"address {address!r} is for a Ray cluster; give engine 'ray' too")
        from hta_sql.engines.local import LocalEngine

        return LocalEngine()
    try:
        from hta_sql.engines.on_ray import RayEngine
    except ImportError as error:
        raise HtaSqlError(
            f"the engine 'ray' is not installed: pip install 'hta-sql[fleet]' ({error})"
        ) from error
    return RayEngine(address)
