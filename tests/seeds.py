"""Sweeps over seeds: the first one in a quick run, all of them in a whole one."""

from collections.abc import Iterable

import pytest


def seeds(of: int | Iterable) -> list:
    """What a test is parametrized with: so many seeds from 0, or these, or other things alike."""
    first, *others = range(of) if isinstance(of, int) else of
    return [first, *(pytest.param(seed, marks=pytest.mark.seeds) for seed in others)]
