"""Finds a longest common subsequence: which operator of one run matches which of another."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import duckdb
import numpy as np
import pyarrow as pa

# Limits on memory: for the rows of a block that is traced back and not divided further, and for the
# bit masks of the values of a block.
BLOCK_BYTES = 4 << 20
MASK_BYTES = 64 << 20

# Consecutive matches: the position of the first one in base and in test, and their number.
Run = tuple[int, int, int]


def longest_common_subsequence(
    base: Sequence[int] | np.ndarray, test: Sequence[int] | np.ndarray
) -> np.ndarray:
    """Positions (k x 2, int64, ascending) of a longest common subsequence of two sequences of
    integers: each row has a position in `base` and one in `test`, of equal values.

    The result is exact. The time is proportional to len(base) x len(test) / word size, and the
    memory is little more than that of the sequences. The method is the division of D. S.
    Hirschberg (1975) over the bit-parallel row of M. Crochemore et al. (2001), in the form of H.
    Hyyrö (2004), on Python's integers of any length. If several subsequences are equally long, it
    picks one with few runs, but not always the fewest.
    """
    base, test = np.asarray(base, np.int64), np.asarray(test, np.int64)
    in_base, in_test = np.isin(base, test).nonzero()[0], np.isin(test, base).nonzero()[0]
    runs: list[Run] = []
    _solve(base[in_base], test[in_test], 0, 0, runs)
    i, j = _positions(runs).T
    pairs = np.stack([in_base[i], in_test[j]], axis=1)
    return _positions(_joined(_runs(pairs), base.tolist(), test.tolist()))


def _positions(runs: list[Run]) -> np.ndarray:
    table = np.array(runs, np.int64).reshape(-1, 3)
    lengths = table[:, 2]
    within = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
    return np.repeat(table[:, :2], lengths, axis=0) + within[:, None]


def _runs(pairs: np.ndarray) -> list[Run]:
    starts = np.flatnonzero((np.diff(pairs, axis=0, prepend=-2) != 1).any(axis=1))
    lengths = np.diff(starts, append=len(pairs))
    return [(i, j, n) for (i, j), n in zip(pairs[starts].tolist(), lengths.tolist(), strict=True)]


def _solve(base: np.ndarray, test: np.ndarray, i: int, j: int, runs: list[Run]) -> None:
    """Append the runs of two blocks that begin at i and j, in order."""
    head = _same(base, test)  # Matching the common begin and end first keeps the length maximal.
    tail = _same(base[head:][::-1], test[head:][::-1])
    runs.append((i, j, head))
    runs_end = (i + len(base) - tail, j + len(test) - tail, tail)
    base, test = base[head : len(base) - tail], test[head : len(test) - tail]
    i, j = i + head, j + head
    half = len(test) // 2  # Halves limit the depth of the recursion to log2 of len(test).
    # 48 is the overhead of a bytes object.
    if not half or len(test) * (len(base) // 8 + 48) <= BLOCK_BYTES:
        runs.extend((i + p, j + q, 1) for p, q in _trace(base, test))
    else:
        before, after = _lengths(base, test[:half]), _lengths(base[::-1], test[half:][::-1])
        cut = int((before + after[::-1]).argmax())
        _solve(base[:cut], test[:half], i, j, runs)
        _solve(base[cut:], test[half:], i + cut, j + half, runs)
    runs.append(runs_end)


def _same(base: np.ndarray, test: np.ndarray) -> int:
    """The number of equal elements at the begin of both."""
    shorter = min(len(base), len(test))
    differs = base[:shorter] != test[:shorter]
    return int(differs.argmax()) if differs.any() else shorter


def _lengths(base: np.ndarray, test: np.ndarray) -> np.ndarray:
    """For each i, the length of a longest common subsequence of base[:i] and test."""
    row = 0
    for row in _rows(base, test):  # noqa: B007
        pass
    data = np.frombuffer(row.to_bytes(len(base) // 8 + 1, "little"), np.uint8)
    ones = np.unpackbits(data, count=len(base), bitorder="little")
    return np.concatenate(([0], np.cumsum(1 - ones, dtype=np.int64)))


def _rows(base: np.ndarray, test: np.ndarray) -> Iterator[int]:
    """A row of bits for each j from 1. Bit i is 0 if the length for base[: i + 1] and test[:j] is
    greater than that for base[:i] and test[:j]."""
    order = np.argsort(base, kind="stable")
    values, starts = np.unique(base[order], return_index=True)
    places = dict(zip(values.tolist(), np.split(order, starts)[1:], strict=True))

    # The masks of all values of a large block would take too much memory.
    @lru_cache(maxsize=MASK_BYTES // (len(base) // 8 + 1))
    def mask(value: int) -> int:
        bits = np.zeros(len(base), np.uint8)
        bits[places[value]] = 1
        return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")

    row = ones = (1 << len(base)) - 1
    for value in test.tolist():
        if value in places:
            hits = row & mask(value)
            row = ((row + hits) | (row - hits)) & ones  # Drops the carry past the end of base.
        yield row


def _trace(base: np.ndarray, test: np.ndarray) -> list[tuple[int, int]]:
    """The matches of a block, traced back through all its rows."""
    rows = [row.to_bytes(len(base) // 8 + 1, "little") for row in _rows(base, test)]
    left, right = base.tolist(), test.tolist()
    i, j, pairs = len(left) - 1, len(right) - 1, []
    while i >= 0 and j >= 0:
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i - 1, j - 1
        elif rows[j][i // 8] >> i % 8 & 1:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _joined(runs: list[Run], base: list[int], test: list[int]) -> list[Run]:
    """The runs, with neighbouring runs joined if possible.

    If only one sequence has a gap between two runs, the gap can often be moved before the first run
    or after the second, for example among repeated layers. Then the two runs become one.
    """
    joined: list[Run] = []
    for run in runs:
        while joined:
            (i, j, n), (p, q, m) = joined[-1], run
            if i + n == p:
                values, first, second = test, j, q
            elif j + n == q:
                values, first, second = base, i, p
            else:
                break
            gap = second - first - n
            if values[first : first + n] == values[first + gap : second]:
                run = (p - n, q - n, n + m)
            elif values[first + n : first + n + m] == values[second : second + m]:
                run = (i, j, n + m)
            else:
                break
            joined.pop()
        joined.append(run)
    return joined


def register(con: duckdb.DuckDBPyConnection) -> None:
    """Let SQL on this connection call the function, instead of a macro that raises an error."""
    con.execute("DROP MACRO IF EXISTS longest_common_subsequence")
    con.create_function(
        "longest_common_subsequence",
        _of_lists,
        ["BIGINT[]", "BIGINT[]"],
        "STRUCT(base_place BIGINT, test_place BIGINT)[]",
        type="arrow",
    )


def _of_lists(base: pa.Array, test: pa.Array) -> pa.Array:
    """For each row of two columns of lists, the pairs of places, counted from 1."""
    rows = [
        longest_common_subsequence(_numbers(one.values), _numbers(other.values)) + 1
        for one, other in zip(base, test, strict=True)
    ]
    offsets = np.cumsum([0, *map(len, rows)])
    places = np.concatenate([np.empty((0, 2), np.int64), *rows])
    pairs = pa.StructArray.from_arrays(
        [_arrow(places[:, 0], pa.int64()), _arrow(places[:, 1], pa.int64())],
        ["base_place", "test_place"],
    )
    return pa.ListArray.from_arrays(_arrow(offsets.astype(np.int32), pa.int32()), pairs)


# Neither of these uses pa.array or to_numpy, which import pandas: that takes longer than all else.


def _numbers(column: pa.Array) -> np.ndarray:
    """A column of BIGINT without NULLs."""
    data = column.buffers()[1] or b""
    return np.frombuffer(data, np.int64)[column.offset : column.offset + len(column)]


def _arrow(numbers: np.ndarray, kind: pa.DataType) -> pa.Array:
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(kind, len(numbers), [None, data])
