"""Slow and obviously right counterpart of gpu_efficiency, in exact numbers.

Which names are those of kernels on tensor cores is for the caller to say.
"""

import math
from fractions import Fraction

from queries.brute_force import grouped, selected


def weighted(values) -> float | None:
    """The mean of (value, weight), both exact; None without any weight."""
    values = list(values)
    weight = sum(ns for _, ns in values)
    return float(sum(Fraction(value) * ns for value, ns in values) / weight) if weight else None


def figures(kernels, on_tensor_cores) -> dict[str, float | None]:
    total_ns = sum(row["dur_ns"] for row in kernels)
    fast_ns = sum(row["dur_ns"] for row in kernels if on_tensor_cores(row["name"]))
    return {
        "occupancy_frac": weighted(
            (row["occupancy_frac"], row["dur_ns"])
            for row in kernels
            if row["occupancy_frac"] is not None and 0 <= row["occupancy_frac"] <= 1
        ),
        "sm_efficiency_frac": weighted(
            (min(row["blocks_per_sm"], 1), row["dur_ns"])
            for row in kernels
            if row["blocks_per_sm"] is not None and 0 <= row["blocks_per_sm"] < math.inf
        ),
        "tensor_core_frac": fast_ns / total_ns if total_ns else None,
    }


def gpu_efficiency(activities, on_tensor_cores, **only):
    grain = "job", "rank", "device"
    for key, rows in grouped(selected(activities, **only), *grain):
        kernels = [row for row in rows if row["kind"] != "memory"]
        computing = figures([row for row in rows if row["kind"] == "computation"], on_tensor_cores)
        yield (
            dict(zip(grain, key, strict=True))
            | figures(kernels, on_tensor_cores)
            | {f"computation_{name}": figure for name, figure in computing.items()}
            | {
                "kernel_ns": sum(row["dur_ns"] for row in kernels),
                "tensor_core_ns": sum(
                    row["dur_ns"] for row in kernels if on_tensor_cores(row["name"])
                ),
            }
        )
