"""The process of the job in a trace of many ranks: its steps, and which ranks were late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson

from hta_sql.export.sql import FILES

if TYPE_CHECKING:
    import duckdb

# The category of the events, and the top-level key, that an export adds to a trace.
EXPORTED = "hta_sql"


def job_tracks(con: duckdb.DuckDBPyConnection, pid: int) -> Iterator[list[str]]:
    """The events of the job's process, which comes first: its steps, and which ranks were late."""
    tracks: list[str] = []
    found: list[str] = []
    [(base_ns,)] = con.execute("SELECT getvariable('export_base_ns')").fetchall()
    for title, name in (("Steps", "job_steps"), ("Stragglers", "job_stragglers")):
        # Perfetto draws events wrong that overlap partly on one track, so an event goes to a track
        # that is free. free_ns has the end of the last event on each track.
        free_ns: list[int] = []
        first_tid = len(tracks)
        for label, start_ns, end_ns, arguments in FILES.run(con, name).fetchall():
            track = next((at for at, free in enumerate(free_ns) if free <= start_ns), len(free_ns))
            if track == len(free_ns):
                free_ns.append(end_ns)
                tracks.append(title if track == 0 else f"{title} {track + 1}")
            free_ns[track] = end_ns
            found.append(
                f'{{"ph":"X","cat":"{EXPORTED}","name":{orjson.dumps(label).decode()},'
                f'"pid":{pid},"tid":{first_tid + track},"ts":{microseconds(start_ns - base_ns)},'
                f'"dur":{microseconds(end_ns - start_ns)},"args":{arguments}}}'
            )
    if not found:
        return
    yield [
        metadata("process_name", pid, 0, name="Job"),
        metadata("process_sort_index", pid, 0, sort_index=0),
    ]
    for tid, track in enumerate(tracks):
        yield [
            metadata("thread_name", pid, tid, name=track),
            metadata("thread_sort_index", pid, tid, sort_index=tid),
        ]
    yield found


def metadata(what: str, pid: int, tid: int, **args: object) -> str:
    return orjson.dumps({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}).decode()


def microseconds(ns: int) -> str:
    sign, ns = "-" * (ns < 0), abs(ns)
    return f"{sign}{ns // 1000}.{ns % 1000:03d}"
