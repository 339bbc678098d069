"""Conditions on a comparison, which can make a pipeline fail, and whether they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hta_sql.catalogue.query import did_you_mean
from hta_sql.errors import BadParameter

_CONDITION = re.compile(r"\s*(\w+)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*(%|ns|us|µs|ms|s)\s*")
_UNITS = {"%": 0.01, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
# The names in step_diff.
METRICS = (
    "step_time",
    "gpu_span",
    "gpu_busy",
    "idle",
    "compute",
    "exposed_communication",
    "exposed_memory",
    "communication",
    "memory",
    "kernel_sum",
)
# For these, a condition holds if the time per call of at least one cause changed by that much.
TIMES_OF_CALLS = ("kernel_time", "transfer", "host_time", "data_loading")


@dataclass(frozen=True)
class Condition:
    """A condition on a difference beyond noise, such as `step_time > 3%` or `step_time > 2ms`."""

    text: str
    name: str
    is_above: bool
    limit: float
    is_ratio: bool

    @staticmethod
    def read(text: str) -> Condition:
        """Parse a condition. Raises BadParameter if it is not one."""
        found = _CONDITION.fullmatch(text)
        if not found:
            raise BadParameter(
                f"{text!r} is not a condition; write METRIC > LIMIT or METRIC < LIMIT with the "
                "unit %, ns, us, ms or s, such as 'step_time > 3%' or 'step_time > 2ms'"
            )
        name, sign, number, unit = found.groups()
        if name not in (*METRICS, *TIMES_OF_CALLS):
            raise BadParameter(
                f"{text!r}: {name} is not a metric; "
                f"{did_you_mean(name, (*METRICS, *TIMES_OF_CALLS))}give one of "
                f"{', '.join((*METRICS, *TIMES_OF_CALLS))}"
            )
        if name in TIMES_OF_CALLS and unit != "%":
            raise BadParameter(
                f"{text!r}: {name} is compared per call, so its limit has to be in %"
            )
        return Condition(text, name, sign == ">", float(number) * _UNITS[unit], unit == "%")

    def is_beyond(self, value: float) -> bool:
        return value > self.limit if self.is_above else value < self.limit


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds; `holds` is None if that cannot be decided."""

    condition: str
    holds: bool | None
    text: str
