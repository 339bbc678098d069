"""Engines by name.

    with start("ray", address="auto") as engine:
        for item, result in engine.map(function, items):
            ...

Of those that there are, only the one that is asked for is imported.
"""

from __future__ import annotations

from hta_sql.engines.engine import Engine
from hta_sql.errors import BadParameter, HtaSqlError

ENGINES = ("local", "ray")


def start(engine: str = "local", address: str | None = None) -> Engine:
    """The engine of a name; HtaSqlError where it is not known or not installed.

    `address` is of a Ray cluster, as Ray takes it; without one, `RAY_ADDRESS` tells it, or a small
    cluster on this machine is started at the first use and ended by close().
    """
    if engine not in ENGINES:
        raise BadParameter(f"no engine {engine!r}; there is {' and '.join(ENGINES)}")
    if engine == "local":
        if address is not None:
            raise BadParameter(f"address {address!r} is of a Ray cluster: it needs engine 'ray'")
        from hta_sql.engines.local import LocalEngine

        return LocalEngine()
    try:
        from hta_sql.engines.on_ray import RayEngine
    except ImportError as error:
        raise HtaSqlError(
            f"the engine 'ray' needs more: pip install 'hta-sql[fleet]' ({error})"
        ) from error
    return RayEngine(address)
