"""Shapes of spans on threads of the host."""

from collections.abc import Iterator

from drawn_events import Event, annotation, kernel, launch, op

LONG_TAILS = 100
NESTED = 2000  # spans in one another


def staircase(n: int) -> Iterator[Event]:
    """Every operator begins inside the one before it and ends after it."""
    for i in range(n // 3):
        yield op("aten::mm", i * 10, 15)
        yield launch(i + 1, i * 10 + 6, 2)
        yield kernel(i + 1, i * 10 + 8, 9)


def all_crossing(n: int) -> Iterator[Event]:
    """Every operator crosses all others that are open, up to 100,000 of them."""
    for i in range(n // 3):
        yield op("aten::mm", i, 100_000)
        yield launch(i + 1, i, 1)
        yield kernel(i + 1, i + 1, 1)


def long_tails(n: int) -> Iterator[Event]:
    """Annotations that cross each other and stay open over all operators."""
    calls = n // 3
    for k in range(LONG_TAILS):
        yield annotation(f"request {k}", k * 10, calls * 10 + LONG_TAILS * 10)
    for i in range(calls):
        ts = (LONG_TAILS + i) * 10
        yield op("aten::mm", ts, 8)
        yield launch(i + 1, ts + 1, 2)
        yield kernel(i + 1, ts + 4, 5)


def deep(n: int) -> Iterator[Event]:
    """2,000 operators in one another, a launch in every tenth; again and again."""
    for turn in range(max(1, n // (NESTED + NESTED // 5))):
        begin = turn * NESTED * 10
        for depth in range(NESTED):
            ts = begin + depth * 2
            yield op(f"aten::deep_{depth}", ts, NESTED * 8 - depth * 4)
            if depth % 10 == 0:
                correlation = turn * NESTED + depth + 1
                yield launch(correlation, ts + 1, 1)
                yield kernel(correlation, ts + 2, 15)


def threads(n: int) -> Iterator[Event]:
    """Every call on a thread of its own."""
    for i in range(n // 3):
        yield op("aten::mm", i * 10, 100, tid=i + 1)
        yield launch(i + 1, i * 10 + 2, 5, tid=i + 1)
        yield kernel(i + 1, i * 10 + 8, 9)


def no_lengths(n: int) -> Iterator[Event]:
    """Nothing takes any time."""
    for i in range(n // 3):
        yield op("aten::mm", i, 0)
        yield launch(i + 1, i, 0)
        yield kernel(i + 1, i + 1, 0)


def equal_stamps(n: int) -> Iterator[Event]:
    """Everything begins at one instant and ends at one."""
    for i in range(n // 3):
        yield op("aten::mm", 1000, 10)
        yield launch(i + 1, 1000, 10)
        yield kernel(i + 1, 1000, 10)


def steps(n: int) -> Iterator[Event]:
    """A step for every call."""
    for i in range(n // 4):
        yield annotation(f"ProfilerStep#{i}", i * 100, 100)
        yield op("aten::mm", i * 100 + 10, 50)
        yield launch(i + 1, i * 100 + 20, 10)
        yield kernel(i + 1, i * 100 + 40, 50)
