"""Parses the events of a trace. Stamps are read as numbers, or as text if they need it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.ingestion import clock
from hta_sql.ingestion.attempts import Parsed
from hta_sql.ingestion.parse import PieceParser

# How far apart events of one trace may be. The profiler has the same limit for a span.
LONGEST_NS = 7 * 86_400 * 10**9
# What all spans of a trace may last together: ten years. Sums over traces then fit 64 bits. A trace
# of ten minutes with 100 threads, each 50 calls deep, has a tenth of a year.
LONGEST_TOTAL_NS = 3650 * 86_400 * 10**9
TOO_LONG = '"dur" is too much: all spans together last over ten years'


class EventParser(PieceParser):
    """Reads the events of one trace, and finds from them how the trace writes time.

    Times in the tables are relative to the trace's base, which the file may give after the events.
    """

    number = "event_id"
    # Whether stamps count from 1970; None before the first stamp.
    _since_1970: bool | None = None
    # Whether fractions of a microsecond lack their padding; None before the first large stamps.
    _unpadded: bool | None = None
    # The median stamp of the first piece; None before it.
    _median_ns: int | None = None
    _total_ns = 0  # duration of all spans so far

    @property
    def is_absolute(self) -> bool:
        """Whether stamps count from 1970, as far as is known."""
        return bool(self._since_1970)

    def time_format(self, has_base: bool) -> str:
        """In words: what the stamps count from, and how stamps since 1970 are written."""
        if self._since_1970 is None:
            return "no times"
        if not self._since_1970:
            return "relative to base" if has_base else "relative, base unknown"
        if self._unpadded is None:
            return "absolute, microseconds"
        return f"absolute, {'unpadded ' if self._unpadded else ''}nanoseconds"

    def _parsed(self, data) -> Parsed:
        table = self._readers.query(data, "events_of_numbers({piece})")
        if not clock.needs_exact_reading(data, pc.max(table["stamp_ns"]).as_py()):
            return Parsed(table)
        exact = clock.with_exact_stamps(table, data)
        return Parsed(self._of_text(data, False) if exact is None else exact, is_exact=True)

    def _parsed_with_care(self, data) -> pa.Table:
        table = self._of_text(data, self._unpadded)
        is_exact = clock.needs_exact_reading(data, pc.max(table["stamp_ns"]).as_py())
        if is_exact and self._unpadded is None:
            table = self._of_text(data, False)
        return self._checked(Parsed(table, is_exact), data)

    def _of_text(self, data, unpadded: bool | None) -> pa.Table:
        """Events with times read as text; exactly if it is known whether fractions are padded."""
        if unpadded is not None:
            data = clock.quoted(bytes(data), unpadded)
        return self._readers.query(data, f"events_of_text({{piece}}, {bool(unpadded)})")

    def _checked(self, parsed: Parsed, data) -> pa.Table:
        table = parsed.table
        if parsed.is_exact and self._unpadded is None:
            self._unpadded = clock.is_unpadded(data)
        if self._unpadded:
            table = self._of_text(data, True)
        span = pc.min_max(table["start_ns"]).as_py()
        if span["max"] is None:
            return table
        if self._since_1970 is None:
            self._since_1970 = most_count_from_1970(table)
        if self._since_1970 and span["min"] < clock.SINCE_1970_NS:
            stray = pc.less(table["start_ns"], clock.SINCE_1970_NS)
            table = rejected(table, stray, '"ts" is no date, unlike the others')
        elif not self._since_1970 and span["max"] >= clock.SINCE_1970_NS:
            stray = pc.greater_equal(table["start_ns"], clock.SINCE_1970_NS)
            table = rejected(table, stray, '"ts" is a date, unlike the others')
        return self._without_long_ones(self._without_far_ones(table))

    def _without_far_ones(self, table: pa.Table) -> pa.Table:
        """The same events; those far from the others have a problem."""
        good = usable(table, "start_ns").drop_null()
        if not len(good):
            return table
        if self._median_ns is None:
            self._median_ns = pc.quantile(good, 0.5, interpolation="lower")[0].as_py()
        first, last = self._median_ns - LONGEST_NS, self._median_ns + LONGEST_NS
        span = pc.min_max(good).as_py()
        if first <= span["min"] and span["max"] <= last:
            return table
        starts = table["start_ns"]
        far = pc.or_(pc.less(starts, first), pc.greater(starts, last))
        return rejected(table, far, '"ts" is over 7 days from the others')

    def _without_long_ones(self, table: pa.Table) -> pa.Table:
        """The same events; if all spans together last too long, the longest have a problem."""
        durations = usable(table, "dur_ns").fill_null(0).to_numpy().astype(float)
        if self._total_ns + durations.sum() > LONGEST_TOTAL_NS:
            order = np.argsort(durations, kind="stable")
            is_over = np.empty(len(order), bool)
            is_over[order] = self._total_ns + np.cumsum(durations[order]) > LONGEST_TOTAL_NS
            table = rejected(table, pa.chunked_array([is_over]), TOO_LONG)
        return table

    def _taken(self, table: pa.Table) -> None:
        super()._taken(table)
        self._total_ns += pc.sum(table["dur_ns"]).as_py() or 0


def most_count_from_1970(table: pa.Table) -> bool:
    since_1970 = pc.greater_equal(table["start_ns"], clock.SINCE_1970_NS)
    return pc.mean(since_1970).as_py() > 0.5


def usable(table: pa.Table, column: str) -> pa.ChunkedArray:
    """A column, with NULL for events that have a problem."""
    if table["problem"].null_count == len(table):
        return table[column]
    return pc.if_else(pc.is_null(table["problem"]), table[column], None)


def rejected(table: pa.Table, which: pa.ChunkedArray, why: str) -> pa.Table:
    """The same events, with the problem `why` for some of them."""
    at = table.schema.get_field_index("problem")
    problem = pc.if_else(pc.fill_null(which, False), pa.scalar(why), table["problem"])
    return table.set_column(at, "problem", problem)
