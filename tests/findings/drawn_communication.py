"""Drawn jobs of communication."""

from __future__ import annotations

from findings.drawn_job import DrawnJob


def waits() -> DrawnJob:
    """
    rank 0    [=========)[wwww======)[=======)      w: waits for rank 1; the transfer takes 200
    rank 1    [==============)[=====)[=======)
    """
    drawn = DrawnJob("waits", 2)
    drawn.compute(0, 0, 1000)
    drawn.compute(1, 0, 1100)
    drawn.meet({0: 1000, 1: 1100}, 1300)
    for rank in (0, 1):
        drawn.compute(rank, 1300, 2000)
    return drawn


def partly_hidden() -> DrawnJob:
    """Of a transfer of 400, computation hides 150, and a call before it another 50."""
    drawn = DrawnJob("partly_hidden", 2)
    for rank in (0, 1):
        drawn.compute(rank, 0, 1000)
        drawn.compute(rank, 1250, 2000)
    drawn.meet({0: 850, 1: 850}, 1050)
    drawn.meet({0: 850, 1: 850}, 1250)
    return drawn


def slow_ones() -> DrawnJob:
    """Of eight all-reduces of a size, two take 500 instead of 100. One of another size does too."""
    drawn = DrawnJob("slow_calls", 2)
    at = 0
    for transfer, elements in [(100, 10**6), (100, 10**6), (500, 10**6), (100, 10**6)] * 2 + [
        (500, 5 * 10**6)
    ]:
        for rank in (0, 1):
            drawn.compute(rank, at, at + 1000)
        at += 1000
        drawn.meet({0: at, 1: at}, at + transfer, elements=elements)
        at += transfer
    return drawn


def small_ones(job: str, between: int = 0) -> DrawnJob:
    """Five all-reduces of 4 kB, 50 each, with computation `between` them."""
    drawn = DrawnJob(job, 2)
    at = 1000
    for rank in (0, 1):
        drawn.compute(rank, 0, at)
    for _ in range(5):
        drawn.meet({0: at, 1: at}, at + 50, elements=1000)
        at += 50
        for rank in (0, 1) if between else ():
            drawn.compute(rank, at, at + between)
        at += between
    return drawn


def alone(job: str, *durations: int) -> DrawnJob:
    """The trace of one of two ranks: a call with each of these durations, after computation."""
    drawn = DrawnJob(job, 2)
    at = 0
    for number, duration in enumerate(durations):
        drawn.compute(0, at, at + 1000)
        # A larger message takes no less time than a smaller one.
        drawn.meet({0: at + 1000}, at + 1000 + duration, elements=10**6 + number)
        at += 1000 + duration
    return drawn


def communication_jobs() -> list[DrawnJob]:
    hidden = DrawnJob("hidden", 2)
    for rank in (0, 1):
        hidden.compute(rank, 0, 2000)
    hidden.meet({0: 500, 1: 500}, 900)
    return [
        waits(),
        partly_hidden(),
        slow_ones(),
        small_ones("small"),
        small_ones("apart", between=100),
        alone("alone", 400, 120, 300),
        alone("alone_twice", 400, 120),
        hidden,
    ]
