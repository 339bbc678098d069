"""Builds call stacks: which span runs inside which on the threads of the host.

Spans are read in order, one chunk at a time. Spans that a chunk leaves open pass on to the next
chunk, and so do the tails of spans that were crossed:

    annotation   [=====|.........)
    operator           [===========)      crosses the annotation
    launch                [==)            in both

A crossed span leaves the stack at its cut, and from there on it calls nothing. But a span that
begins and ends in its tail still runs inside it. The crossed span may even be the innermost
operator, annotation or module around that span. This is as common as an operator that ends a moment
after the annotation around it, because both times were rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from hta_sql.ingestion.host_ops import Found
from hta_sql.ingestion.inherit import (
    KINDS,
    NOTHING_INHERITED,
    REFERENCES,
    inherit,
    inherit_one_by_one,
)
from hta_sql.ingestion.nesting import NOBODY, LastAround, Nesting, Outer, nest
from hta_sql.ingestion.open_spans import Columns, OpenSpans, ids_at, joined, with_nulls
from hta_sql.ingestion.side_by_side import Aside
from hta_sql.ingestion.spool import Spool

CHUNK_ROWS = 1 << 17
# One more bit: the span is on a thread that only autograd runs on.
OF_AUTOGRAD = 16
SPANS = """
SELECT {line} event_id, start_ns, start_at, end_at, what, name_hash
FROM host_spans
ORDER BY {line} start_at, end_at DESC, event_id
"""
STACK = pa.schema(
    [
        ("event_id", pa.int64()),
        ("step", pa.int64()),
        ("depth", pa.int32()),
        *[(name, pa.int64()) for name in ("parent_id", "root_id", *KINDS)],
        ("stack_hash", pa.uint64()),
    ]
)
NO_CUTS: Columns = {name: np.empty(0, np.int64) for name in ("event_id", "cut_ns")}
NO_SPANS: Columns = {name: np.empty(0, np.int64) for name in ("event_id", "start_ns", "end_ns")}


class CallStacks(NamedTuple):
    """The place of every span, one row of STACK each; when crossed spans leave the stack, by their
    ids; and the outermost spans of threads that only autograd runs on."""

    places: Spool
    cuts: Found
    of_autograd: Columns


def build_stacks(
    con: duckdb.DuckDBPyConnection, file: Path, first_ids: list[int], threads: int = 1
) -> CallStacks:
    """Build them from `host_spans` and `step_segments`. The places wait in a file, in parts that
    begin with these ids."""
    steps = con.sql("SELECT start_ns, step FROM step_segments ORDER BY start_ns").to_arrow_table()
    [(line_count,)] = con.sql("SELECT count(DISTINCT line) FROM threads").fetchall()
    places = Spool(file, STACK, first_ids)
    cuts, of_autograd = [NO_CUTS], [NO_SPANS]
    stacks = Stacks()
    with Aside(threads) as aside:
        for chunk in chunks(con, line_count > 1):
            aside.do(places.add, stacks.take(chunk, steps))
            if chunk.goes_on_at is None:
                cuts += stacks.cuts
                of_autograd += stacks.of_autograd
                stacks = Stacks()
    cut = joined(cuts)
    return CallStacks(places, Found(cut["event_id"], cut["cut_ns"]), joined(of_autograd))


class Chunk(NamedTuple):
    """Spans in order: of one line, or of several whole lines. If there are several, instants are
    numbers, and `instants` has the time of each on its thread's clock, in nanoseconds."""

    spans: Columns
    line: int | None  # None if there are several
    instants: np.ndarray | None = None
    goes_on_at: int | None = None  # when the next span of the line begins, if there is one

    def ns(self, at: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Instants of the line as times on the clocks of threads with these shifts."""
        return at - shift if self.instants is None else self.instants[at]


def chunks(con: duckdb.DuckDBPyConnection, has_lines: bool) -> Iterator[Chunk]:
    last = None
    with con.sql(SPANS.format(line="line," if has_lines else "")).to_arrow_reader(
        CHUNK_ROWS
    ) as batches:
        for batch in batches:
            spans = {name: batch[name].to_numpy() for name in batch.schema.names}
            for chunk in by_line(spans) if has_lines else [Chunk(spans, 0)]:
                if last:
                    goes_on = chunk.line is not None and chunk.line == last.line
                    at = int(chunk.spans["start_at"][0]) if goes_on else None
                    yield last._replace(goes_on_at=at)
                last = chunk
    if last:
        yield last


def by_line(spans: Columns) -> Iterator[Chunk]:
    """Chunks of a batch. Its first and last line are a chunk each, since other batches may share
    them. All lines between are one chunk, since nearly every thread may have its own line."""
    line = spans.pop("line")
    begins = np.flatnonzero(np.diff(line, prepend=line[0] - 1, append=line[-1] + 1))
    for begin, end in pairwise(np.unique([0, begins[1], begins[-2], len(line)]).tolist()):
        part = {name: values[begin:end] for name, values in spans.items()}
        is_one = line[begin] == line[end - 1]
        yield Chunk(part, int(line[begin])) if is_one else numbered(part, line[begin:end])


def numbered(spans: Columns, line: np.ndarray) -> Chunk:
    """Put lines one behind the other. All their times together take more than 64 bits, so instants
    become numbers."""
    length = spans["end_at"] - spans["start_at"]
    at = np.concatenate([spans["start_at"], spans["end_at"]])
    at_ns = np.concatenate([spans["start_ns"], spans["start_ns"] + length])
    lines = np.tile(line, 2)
    order = np.lexsort((at, lines))
    is_new = np.ones(len(at), bool)
    is_new[1:] = (np.diff(at[order]) != 0) | (np.diff(lines[order]) != 0)
    numbers = np.empty(len(at), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    starts, ends = np.split(numbers, 2)
    return Chunk(spans | {"start_at": starts, "end_at": ends}, None, at_ns[order][is_new])


class Stacks:
    """The stacks of a line's spans, taken chunk by chunk, or of several lines in one chunk.

    Within a chunk, a span is given by its position among those still open and those of the chunk.
    NOBODY is the position of one more row, the last, from which outermost spans inherit.
    """

    def __init__(self) -> None:
        self.cuts: list[Columns] = []
        self.of_autograd: list[Columns] = []  # the outermost spans of its threads
        self._count = 0  # spans so far, which gives each its number
        self._open = OpenSpans(REFERENCES)
        self._places = np.empty(0, np.int64)  # on the stack, of the spans around a chunk
        self._tails = {name: LastAround() for name in KINDS}

    def take(self, chunk: Chunk, steps: pa.Table) -> pa.RecordBatch:
        """The rows of STACK for the spans of a chunk, in the order of event_id."""
        around, before, spans = self._after_those_open(chunk.spans)
        nesting = nest(spans["start_at"][:NOBODY], spans["end_at"][:NOBODY], chunk.goes_on_at)
        inherit_one_by_one(spans, nesting, before)
        for group in nesting.settled:
            inherit(spans, group[group >= before], nesting.parents)
        tails = self._note_cuts(chunk, spans, nesting)
        self._note_autograd(chunk, spans, before)
        ids = {name: ids_at(spans, spans[name][before:NOBODY]) for name in KINDS}
        for name in KINDS:
            self._mend(ids[name], spans, before, name, tails)
        order = np.argsort(chunk.spans["event_id"], kind="stable")
        own = before + order
        rows = {
            "event_id": chunk.spans["event_id"][order],
            "step": step_at(steps, chunk.spans["start_ns"][order]),
            "depth": spans["depth"][own].astype(np.int32),
            "parent_id": with_nulls(ids_at(spans, nesting.parents[own])),
            "root_id": ids_at(spans, spans["root_id"][own]),
            **{name: with_nulls(found[order]) for name, found in ids.items()},
            "stack_hash": spans["stack_hash"][own],
        }
        self._keep(spans, around, nesting.still_open, chunk.goes_on_at)
        return pa.record_batch(rows, STACK)

    def _after_those_open(self, added: Columns) -> tuple[int, int, Columns]:
        """All spans that a chunk looks at: (1) the innermost span that stays open, with those that
        it inherits from, (2) those that may be closed or crossed, (3) those added, and NOBODY.
        Returns the number in 1, the number in 1 and 2, and the spans."""
        starts, ends = added["start_at"], added["end_at"]
        closing = self._open.take(starts[0], starts[-1], ends.max())
        self._places, staying = self._open.innermost()
        size, around = len(starts), len(staying)
        new = NOTHING_INHERITED | added | {"number": np.arange(self._count, self._count + size)}
        self._count += size
        nobody = {"event_id": NOBODY, "number": NOBODY} | NOTHING_INHERITED
        before = around + sum(len(part["number"]) for part in closing)
        spans = {}
        for name, given in new.items():
            values = np.empty(before + size + 1, np.asarray(given).dtype)
            old = [part[name] for part in (*staying, *closing)]
            values[:before] = np.concatenate(old) if old else ()
            values[before:NOBODY] = given
            values[NOBODY] = nobody.get(name, 0)
            spans[name] = values
        for name in REFERENCES:
            spans[name][:before] = self._positions(spans[name][:before])
        return around, before, spans

    def _positions(self, places: np.ndarray) -> np.ndarray:
        """The positions that spans of the stack have among those that a chunk looks at, by their
        places; NOBODY if it does not look at them."""
        around = len(self._places)
        positions = places - len(self._open) + around
        at = np.searchsorted(self._places, places)
        is_around = np.append(self._places, len(self._open))[at] == places
        return np.where(positions >= around, positions, np.where(is_around, at, NOBODY))

    def _note_cuts(self, chunk: Chunk, spans: Columns, nesting: Nesting) -> Columns:
        """Remember which spans were crossed; returns their tails, which may hold other spans."""
        crossed = nesting.crossed
        shift = (spans["start_at"] - spans["start_ns"])[crossed]
        cut_ns = chunk.ns(nesting.cut_at, shift)
        self.cuts.append({"event_id": spans["event_id"][crossed], "cut_ns": cut_ns})
        tails = {name: spans[name][crossed] for name in ("event_id", "number", "end_at", "what")}
        return tails | {"begins_at": nesting.cut_at}

    def _note_autograd(self, chunk: Chunk, spans: Columns, before: int) -> None:
        is_outermost = (spans["what"] & OF_AUTOGRAD > 0) & (spans["depth"] == 0)
        found = before + np.flatnonzero(is_outermost[before:NOBODY])
        start_ns = spans["start_ns"][found]
        shift = spans["start_at"][found] - start_ns
        self.of_autograd.append(
            {
                "event_id": spans["event_id"][found],
                "start_ns": start_ns,
                "end_ns": chunk.ns(spans["end_at"][found], shift),
            }
        )

    def _mend(
        self, ids: np.ndarray, spans: Columns, before: int, name: str, tails: Columns
    ) -> None:
        """For spans in the tail of a crossed span of a kind: make it their innermost of that kind,
        if it began later than the one on the stack."""
        tails = {
            column: values[tails["what"] & KINDS[name] > 0] for column, values in tails.items()
        }
        around = self._tails[name]
        starts, ends = spans["start_at"][before:NOBODY], spans["end_at"][before:NOBODY]
        begins, lasts = tails["begins_at"], tails["end_at"]
        if around.last_end is not None:  # the tails of earlier chunks, as one
            begins, lasts = np.append(begins, starts[0]), np.append(lasts, around.last_end)
        inside = covered(starts, begins, lasts)
        outer = map(Outer, *(tails[column].tolist() for column in ("number", "end_at", "event_id")))
        found = around.find(
            tails["begins_at"].tolist(), [*outer], starts[inside].tolist(), ends[inside].tolist()
        )
        on_stack = spans["number"][spans[name][before:NOBODY][inside]].tolist()
        for at, tail, number in zip(inside.tolist(), found, on_stack, strict=True):
            if tail and tail.rank > number:
                ids[at] = tail.id

    def _keep(
        self, spans: Columns, around: int, still_open: np.ndarray, goes_on_at: int | None
    ) -> None:
        """Keep what the next chunk needs. All spans around an open span are open, too."""
        added = still_open[still_open >= around]
        places = np.full(len(spans["number"]), NOBODY)
        places[:around] = self._places
        places[added] = len(self._open) + np.arange(len(added))
        self._open.put(
            {
                name: places[values[added]] if name in REFERENCES else values[added]
                for name, values in spans.items()
            }
        )
        if goes_on_at is not None:
            for tails in self._tails.values():
                tails.drop(goes_on_at)


def covered(starts: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which of the sorted `starts` lie in at least one of the half-open intervals."""
    size = len(starts) + 1
    entered = np.bincount(np.searchsorted(starts, begins), minlength=size)
    left = np.bincount(np.searchsorted(starts, ends), minlength=size)
    return np.flatnonzero(np.cumsum(entered - left)[:-1])


def step_at(steps: pa.Table, starts: np.ndarray) -> pa.Array:
    """The step of the stretch that each start lies in; NULL before the first stretch."""
    stretch = np.searchsorted(steps["start_ns"].to_numpy(), starts, "right") - 1
    return steps["step"].combine_chunks().take(with_nulls(stretch))
