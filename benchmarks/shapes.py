"""Traces of shapes that grow badly where anything can: drawn ones, and real ones repeated.

All of them are written as a stream, and the same again every time.

    python benchmarks/shapes.py staircase 100000 staircase.json.gz
    python benchmarks/shapes.py ../shared/traces/nccl/rank0.json.gz 8 nccl8.json.gz
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
from odd_shapes import (
    all_crossing,
    backward,
    collectives,
    deep,
    distinct_names,
    equal_stamps,
    long_names,
    long_tails,
    memory_instants,
    modules,
    no_lengths,
    one_correlation,
    one_flow,
    one_graph,
    one_sequence,
    overlapping_kernels,
    passes_of_threads,
    staircase,
    steps,
    streams,
    threads,
    waits,
)
from repeated_shapes import repeated
from shape_events import HEAD, TAIL, Event, opened

SHAPES: dict[str, Callable[[int], Iterator[Event]]] = {
    shape.__name__: shape
    for shape in (
        staircase,
        all_crossing,
        long_tails,
        deep,
        threads,
        no_lengths,
        equal_stamps,
        steps,
        backward,
        one_correlation,
        long_names,
        one_graph,
        one_flow,
        collectives,
        one_sequence,
        passes_of_threads,
        memory_instants,
        overlapping_kernels,
        streams,
        distinct_names,
        modules,
        waits,
    )
}


def draw(name: str, n: int, out: str | Path) -> None:
    """Write the drawn shape `name` with about `n` events."""
    with opened(out, "wb") as file:
        file.write(HEAD)
        for position, event in enumerate(SHAPES[name](n)):
            file.write((b",\n" if position else b"") + orjson.dumps(event))
        file.write(TAIL)


def main(shape: str, size: str, out: str) -> None:
    if shape in SHAPES:
        draw(shape, int(size), out)
    else:
        repeated(shape, int(size), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
