"""Sweeps over seeds: the first one in a quick run, half of them in a whole one, all in a soak."""

import os
from collections.abc import Iterable

import pytest

# A sweep is not cut to fewer seeds than this.
FEWEST = 3


def seeds(of: int | Iterable) -> list:
    """What a test is parametrized with: so many seeds from 0, or these, or other things alike.

    Of seeds from 0, only the first half runs without SOAK_SEEDS. Of other things all run.
    """
    values = list(range(of) if isinstance(of, int) else of)
    if values == list(range(len(values))) and not os.environ.get("SOAK_SEEDS"):
        values = values[: max(FEWEST, (len(values) + 1) // 2)]
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.seeds) for value in others)]
