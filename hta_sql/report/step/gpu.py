"""The rows of GPUs and their streams in a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hta_sql.report.step.bars import NONE, Bars, busiest
from hta_sql.report.step.lists import Key, Lists, Rows

# What is shown only where a GPU does not compute, in this order.
_AFTER = ("communication", "memory")
# Streams of a GPU with a row of their own: those that are busy the longest.
_MOST_STREAMS = 16


@dataclass(frozen=True)
class Device:
    """A GPU in a window: its busy time in the window, and the row that shows it as a whole."""

    device: int
    busy_ns: int
    row: Key


def add_devices(rows: Rows, table: pa.Table, span: int, lists: Lists) -> list[Device]:
    """Add a row per stream, and before it one for all streams of a GPU with several."""
    start, until, event = (table[name].to_numpy() for name in ("start", "until", "event_id"))
    category = np.array([lists.category(name) for name in table["category"].to_pylist()], int)
    name = np.array([lists.names[name or "-"] for name in table["name"].to_pylist()], int)
    frame = np.array([rows.frame(caller) for caller in table["caller_id"].to_pylist()], int)
    bars = Bars(start, until, category, name, frame, event)
    places: dict[int, dict[int, list[int]]] = {}
    lanes = zip(table["device"].to_pylist(), table["stream"].to_pylist(), strict=True)
    for place, (device, stream) in enumerate(lanes):
        places.setdefault(device, {}).setdefault(stream, []).append(place)
    found = []
    for device, streams in places.items():
        together = _together(bars.of(np.concatenate([*streams.values()])), lists)
        inside = np.clip(together.end, 0, span) - np.clip(together.start, 0, span)
        if len(streams) > 1:
            rows.bars[f"GPU {device}", f"all {len(streams)} streams"] = together
        first = len(rows.bars) - (len(streams) > 1)
        busy = {stream: int(bars.size[mine].sum()) for stream, mine in streams.items()}
        shown = set(sorted(busy, key=busy.get, reverse=True)[:_MOST_STREAMS])
        for stream, mine in streams.items():
            if stream not in shown:
                continue
            key = f"GPU {device}", f"stream {stream}"
            rows.bars[key] = bars.of(np.array(mine)).in_order()
            rows.row_of |= dict.fromkeys(event[mine].tolist(), key)
        found.append(Device(device, int(inside.sum()), list(rows.bars)[first]))
    return found


def _together(bars: Bars, lists: Lists) -> Bars:
    """What runs at each instant: computation before communication, and copies last."""
    order = [one for name, one in lists.categories.items() if name not in _AFTER]
    order += [lists.categories[name] for name in _AFTER if name in lists.categories]
    level = np.empty(len(order), int)
    level[order] = np.arange(len(order))
    start, end, shown = busiest(bars.start, bars.end, level[bars.category])
    none = np.full(len(start), NONE)
    return Bars(start, end, np.array(order)[shown], none, none, none)
