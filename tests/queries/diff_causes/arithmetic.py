"""The arithmetic of noise, from its comments, in plain Python."""

from functools import cache
from math import atan, cos, isclose, pi, sin, sqrt
from statistics import mean


@cache
@cache
def quantile(freedom: int, chance: float = 0.001) -> float:
    """Student's t that chance exceeds, on either side: once in a thousand."""
    low, high = 0.0, 1e5
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < 1 - chance else (low, middle)
    return high


def within(t: float, freedom: int) -> float:
    """How much of Student's distribution lies between -t and t: the finite sums of 26.7.3 and
    26.7.4 in Abramowitz & Stegun."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for number in range(1 + odd, freedom, 2):
        total += term
        term *= number / (number + 1) * cos(angle) ** 2
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def kept(values) -> list[float]:
    """Without a fifth at either end."""
    values = sorted(values)
    ends = len(values) // 5
    return values[ends : len(values) - ends]


def noise(base, test) -> tuple[float, float] | None:
    """Yuen's standard error, of one variance, and the t by which to multiply it."""
    freedom = len(kept(base)) + len(kept(test)) - 2
    if freedom < 1:
        return None
    squares = 0.0
    for values in (base, test):
        low, *_, high = [min(kept(values)), max(kept(values))]
        drawn_in = [min(max(value, low), high) for value in values]
        squares += sum((value - mean(drawn_in)) ** 2 for value in drawn_in)
    return sqrt(squares / freedom * (1 / len(kept(base)) + 1 / len(kept(test)))), quantile(freedom)


def beyond(difference: float, limit: float) -> bool | None:
    """Whether it is; None where what is rounded decides."""
    if isclose(difference, limit, rel_tol=0.01, abs_tol=1e-8):
        return None
    return difference > limit
