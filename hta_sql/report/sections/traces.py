"""The traces of the job, and their elements that could not be used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.report.parts import Part, Table, Text

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Traces"
PLACE = 95


def parts(subject: Subject) -> Iterator[Part]:
    files = subject.sql("""\
SELECT rank, host, event_count, quarantined_count, status, file_bytes, rank_source, path
FROM traces
WHERE job = {job}
ORDER BY rank""")
    yield Table("Trace files", files, most=512)
    reasons = subject.sql("""\
SELECT
    reason,
    count(*) AS count,
    count(DISTINCT rank) AS rank_count,
    min(rank) AS lowest_rank
FROM quarantine
WHERE job = {job}
GROUP BY ALL
ORDER BY count DESC, reason""")
    if reasons:
        yield Table(
            "Elements that could not be used, by reason; the table quarantine has their bytes",
            reasons,
        )
    else:
        yield Text(["All elements of the files could be used; nothing was quarantined."])
    audit = subject.ask("collective_audit")
    if audit:
        yield Table("Faults in pairing collectives and messages across ranks", audit, most=30)
