"""Ingests files that arrive in a folder, until it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hta_sql.database.roots import new_or_old_root
from hta_sql.engines.start import start
from hta_sql.errors import HtaSqlError
from hta_sql.ingestion.capture_files import in_company
from hta_sql.ingestion.find import (
    Candidate,
    NothingThere,
    find_candidates,
    matches,
    shown,
    with_told,
)
from hta_sql.ingestion.own_steps import check_pattern
from hta_sql.ingestion.summary import IngestSummary
from hta_sql.ingestion.take import take
from hta_sql.ingestion.trace_list import is_list
from hta_sql.places.storage import Place, at_once, stamp

# A file with its job, rank and tags, and its size and time.
Look = tuple[Candidate, tuple[int, int] | None]
# A file may be listed twice, once with an error.
Key = tuple[Place, str | None]


def keep_up(
    inputs: Iterable[str | Path],
    archive: str | Path,
    *,
    seconds: float,
    job: str | None = None,
    tags: Mapping[str, str] | None = None,
    given: Iterable[tuple[int, str | Path]] = (),
    engine: str = "local",
    address: str | None = None,
    report: Callable[[str], None] = lambda line: None,
    passed: Callable[[IngestSummary], None] = lambda summary: None,
    **options: Any,
) -> None:
    """Look for new and changed files every `seconds`, and bring the archive up to date with them.

    A file is ingested once its size and time are the same in two looks, since before that it may
    still be being written. A file that was ingested, or has failed, is ingested again if it changes
    or is given another job, rank or tags. Only an exception ends it, such as KeyboardInterrupt.
    """
    check_pattern(options.get("steps"))
    start(engine, address)  # a wrong one is an error at once
    archive = new_or_old_root(archive)
    inputs, given = list(inputs), list(given)
    with suppress(NothingThere):  # files may come later
        find_candidates(inputs, job)
    before: dict[Key, Look] = {}
    taken: dict[Key, Look] = {}
    lists: dict[Place, tuple] = {}
    said: set[str] = set()

    def report_once(line: str) -> None:
        if line not in said:
            said.add(line)
            report(line)

    while True:
        try:
            lists_before, lists = lists, stamps_of_lists(inputs)
            found = find(inputs, job, given, tags or {})
            now = {
                (c.path, c.error): (c, at)
                for c, at in zip(found, at_once(stamp_of, found), strict=True)
            }
            settled = {key: look[0] for key, look in now.items() if look == before.get(key)}
            ready = [key for key in settled if now[key] != taken.get(key)]
            before = now
            candidates, waiting = in_company([settled[key] for key in ready], [*settled.values()])
            for capture in waiting:
                report_once(f"{shown(capture.path)}: waits for the trace whose graphs it has")
            if candidates and lists == lists_before:
                looks = {(c.path, c.error): now[c.path, c.error] for c in candidates}
                with start(engine, address) as working:
                    try:
                        summary = take(
                            candidates, archive, working, is_strict=False, report=report, **options
                        )
                    except NothingThere:  # any other error may be gone at the next look
                        taken |= looks
                        raise
                taken |= looks
                passed(summary)
        except (HtaSqlError, OSError) as error:
            report_once(str(error))
        time.sleep(seconds)


def find(
    inputs: list[str | Path],
    job: str | None,
    given: list[tuple[int, str | Path]],
    tags: Mapping[str, str],
) -> list[Candidate]:
    """The files that are there now."""
    try:
        found = find_candidates([*inputs, *(path for _, path in given)], job)
    except NothingThere:
        return []
    return with_told(found, given, tags)


def stamp_of(candidate: Candidate) -> tuple[int, int] | None:
    """A file's size and time; None if it has an error, is gone, or storage has listed it."""
    try:
        return None if candidate.error or candidate.listed else stamp(candidate.path)
    except OSError:
        return None


def stamps_of_lists(inputs: list[str | Path]) -> dict[Place, tuple[int, int]]:
    """Size and time of each list of traces. A list that is still being written does not count."""
    lists = {}
    for text in inputs:
        with suppress(NothingThere):
            lists |= {path: stamp(path) for path in matches(text) if is_list(path)}
    return lists
