"""Reads what happens in windows of a job: the data that step.js draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from hta_sql.database.layers import literal
from hta_sql.plot.timeline import category_colours
from hta_sql.report.step import queries
from hta_sql.report.step.bars import packed, shortest_of
from hta_sql.report.step.gpu import Device, add_devices
from hta_sql.report.step.host import add_threads
from hta_sql.report.step.lists import HOST_COLOURS, Lists, Rows, times_of
from hta_sql.report.step.windows import Window

if TYPE_CHECKING:
    import pyarrow as pa

    from hta_sql.archive import Archive

# Bars that are drawn one by one, in all windows together and in one.
_MOST, _MOST_IN_WINDOW = 150_000, 24_000
# Idle gaps of less than 1/500 of their window are drawn, but have no cause.
_GAPS = 500


def picture(
    run: Archive, job: str, windows: Sequence[Window], colours: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The data of a picture of these windows, ready for JSON. Times are ns since a window begins.

    `colours` are of categories on the GPU; by default, those with the most time have one.

    Raises HtaSqlError if the archive cannot be read.
    """
    gpu, host, gaps, path = (
        _by_window(run.sql(_filled(sql, job, windows)), len(windows))
        for sql in (queries.GPU, queries.HOST, queries.GAPS, queries.PATH)
    )
    lists = Lists(colours or category_colours(times_of(gpu)))
    most = min(_MOST_IN_WINDOW, _MOST // max(1, len(windows))) // 2
    shown = []
    for number, window in enumerate(windows):
        rows, span = Rows(), window.until_ns - window.from_ns
        add_threads(rows, host[number], span, lists)
        threads = set(rows.bars)
        devices = add_devices(rows, gpu[number], span, lists)
        shown.append(
            {
                "rank": window.rank,
                "step": window.step,
                "label": window.label,
                "span": span,
                "before": _before(gpu[number], window),
                "rows": _packed(rows, threads, span, most),
                "devices": [_device(device, rows, gaps[number]) for device in devices],
                "path": _path(path[number], rows),
            }
        )
    return {
        "categories": [
            [name, colour, name in HOST_COLOURS] for name, colour in lists.colours.items()
        ],
        "names": list(lists.names),
        "frames": list(lists.frames),
        "windows": shown,
    }


def _packed(rows: Rows, threads: set, span: int, most: int) -> list[dict[str, Any]]:
    """The rows, of which at most `most` bars on the host and as many on GPUs are single ones."""
    shortest = {
        of_host: shortest_of(
            [bars for key, bars in rows.bars.items() if (key in threads) == of_host], most
        )
        for of_host in (True, False)
    }
    return [
        {"group": key[0], "title": key[1], "host": key in threads}
        | packed(bars, span, shortest[key in threads])
        for key, bars in rows.bars.items()
    ]


def _before(gpu: pa.Table, window: Window) -> int:
    """For how long after the window begins a GPU still runs work of an earlier step."""
    if window.step is None:
        return 0
    earlier = gpu.filter(pc.less(gpu["step"], window.step))
    return pc.max(earlier["until"]).as_py() or 0


def _device(device: Device, rows: Rows, gaps: pa.Table) -> dict[str, Any]:
    mine = [row for row in gaps.to_pylist() if row["device"] == device.device]
    return {
        "name": f"GPU {device.device}",
        "busy": device.busy_ns,
        "row": list(rows.bars).index(device.row),
        "gaps": [
            [row[name] for name in ("start", "size", "cause", "host_name", "next_name")]
            for row in mine
        ],
    }


def _path(table: pa.Table, rows: Rows) -> list[list[int]]:
    """The critical path as row, start and end of what is on it; neighbours in a row are one."""
    places = {key: place for place, key in enumerate(rows.bars)}
    way: list[list[int]] = []
    for row in table.to_pylist():
        place = places.get(rows.row_of.get(row["event_id"]))
        if place is None or row["until"] <= row["start"]:
            continue
        if way and way[-1][0] == place:
            way[-1][2] = row["until"]
        else:
            way.append([place, row["start"], row["until"]])
    return way


def _filled(sql: str, job: str, windows: Sequence[Window]) -> str:
    values = ", ".join(
        f"({number}, {w.rank}, {literal(w.path_window)}, {w.from_ns}, {w.until_ns})"
        for number, w in enumerate(windows)
    )
    return sql.format(
        job=literal(job),
        jobs=f"[{literal(job)}]",
        ranks=literal(sorted({window.rank for window in windows})),
        windows=f"(VALUES {values}) AS w(number, rank, path_window, from_ns, until_ns)",
        gaps=_GAPS,
    )


def _by_window(table: pa.Table, count: int) -> list[pa.Table]:
    """The rows of each window; they are in order of its number."""
    ends = np.searchsorted(table["number"].to_numpy(), np.arange(count + 1))
    return [table.slice(ends[n], ends[n + 1] - ends[n]) for n in range(count)]
