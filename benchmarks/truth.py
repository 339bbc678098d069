"""Whether a result is right, so that nothing gets faster by being wrong.

The generator of the traces wrote what it had planned into truth.json. Queries that are not named
here are held against the checksum of the last recorded run.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

Rows = list[dict[str, Any]]


def kinds(rank: dict[str, Any]) -> Rows:
    exclusive = rank["device"]["exclusive_ns"]
    return [{"kinds": name, "time_ns": ns} for name, ns in exclusive.items()]


def names(rank: dict[str, Any]) -> Rows:
    figures = rank["kernels"] | rank["copies"]
    return [
        {"name": name, "count": of["count"], "total_ns": of["total_ns"]}
        for name, of in figures.items()
    ]


# The truth of a rank as rows of a query; columns of the same name have to hold the same.
PLANNED: dict[str, Callable[[dict[str, Any]], Rows]] = {
    "temporal_breakdown": lambda rank: [rank["device"]],
    "comm_comp_overlap": lambda rank: [rank["device"]],
    "step_breakdown": lambda rank: rank["steps"],
    "profiler_steps": lambda rank: rank["steps"],
    "kernel_kind_breakdown": kinds,
    "kernel_stats": names,
    "kernel_distribution": names,
}


def agrees(query: str, table: Any, truth: dict[str, Any]) -> bool | None:
    """Whether a result says what was planned for the first rank; None where nothing is known."""
    if query not in PLANNED:
        return None
    planned = PLANNED[query](truth["ranks"][0])
    columns = sorted(set(table.column_names) & planned[0].keys())
    found = sorted(tuple(row[c] for c in columns) for row in table.to_pylist())
    return found == sorted(tuple(row[c] for c in columns) for row in planned)


def checksum(table: Any) -> str:
    """A short hash of names and values, in their order, with the last digits of floats dropped."""
    digest = hashlib.blake2b(" ".join(table.column_names).encode(), digest_size=4)
    for batch in table.to_batches(max_chunksize=10_000):
        digest.update(json.dumps(plain(batch.to_pylist())).encode())
    return digest.hexdigest()


def plain(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return [plain(item) for item in value.values()]
    return value if isinstance(value, int | str | type(None)) else str(value)
