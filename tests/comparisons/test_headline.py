"""The first sentence of a comparison: ranges that can be."""

from types import SimpleNamespace

import pytest

from hta_sql.comparison.comparison import Comparison


def headline(low_ns: int, diff_ns: int, high_ns: int) -> str:
    """Of steps that took 100 ns before."""
    row = {
        "name": "step_time",
        "base_count": 9,
        "test_count": 9,
        "base_mean_ns": 100,
        "test_mean_ns": 100 + diff_ns,
        "diff_mean_ns": diff_ns,
        "diff_ratio": diff_ns / 100,
        "diff_low_ns": low_ns,
        "diff_high_ns": high_ns,
        "is_significant": True,
        "change": "increased" if diff_ns > 0 else "decreased",
    }
    return Comparison.headline.func(SimpleNamespace(steps=[row]))


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ((-95, -90, -85), "-95.0 % to -85.0 %"),
        ((-110, -90, -70), "-100.0 % to -70.0 %"),
        ((20, 50, 80), "+20.0 % to +80.0 %"),
    ],
)
def test_a_step_is_never_more_than_100_percent_shorter(times, said):
    assert headline(*times).endswith(f"(99.9 % interval of the difference {said}).")
