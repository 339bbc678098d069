"""Pieces of hostile traces."""

import json

from hand_written import rows, span

MB = 1 << 20


FIRST, LAST = json.dumps(span("first", ts=1)), json.dumps(span("last", ts=2))


BROKEN = '{"name": "a", "ph": "M", "ts": 1, "pid": nul, "args": {}}'


GIANT = '{"ph": "X", "cat": "cpu_op", "name": "g", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": '


ALARM_S = 60


def names(archive) -> list[str]:
    return [name for (name,) in rows(archive, "SELECT name FROM events ORDER BY event_id")]


def check_ids(archive) -> None:
    """Every element is an event or in quarantine, once."""
    [(count, distinct, last)] = rows(
        archive,
        """
        SELECT count(*), count(DISTINCT event_id), max(event_id)
        FROM (SELECT event_id FROM events UNION ALL SELECT event_id FROM quarantine)
    """,
    )
    assert count == distinct == last + 1
    [(told,)] = rows(archive, "SELECT event_count + quarantined_count FROM traces")
    assert told == count


def list_of(count: int, begin: int = 0) -> str:
    return ", ".join(json.dumps(span(f"op{at}", ts=at)) for at in range(begin, begin + count))


def in_object(text: str) -> str:
    return f'{{"traceEvents": [{text}]}}'


ONE, TWO, THREE, FOUR = (list_of(1, at) for at in range(4))
