"""Writes a rank's trace with the kernel sequences of operators marked in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import HtaSqlError
from hta_sql.export.choice import chosen_rank
from hta_sql.export.file import check_name, head_of, write_trace
from hta_sql.export.sql import FILES, lines_of_events, tables

if TYPE_CHECKING:
    from hta_sql.archive import Archive


def export_sequences(
    run: Archive,
    out: Path,
    operator: str,
    job: str | None = None,
    only_ranks: Iterable[int] | None = None,
    min_length: int = 3,
    top_k: int = 5,
) -> int:
    """Write a rank's trace; returns the number of events.

    Raises HtaSqlError if no operator launches such a sequence.
    """
    check_name(out)
    job, rank = chosen_rank(run, job, only_ranks)
    run.session.load()
    con = run.session.con
    head, base_ns = head_of(run, job, rank)
    with tables(
        run,
        job,
        base_ns,
        export_rank=rank,
        export_operator=operator,
        export_min_length=min_length,
        export_top_k=top_k,
    ):
        FILES.run(con, "sequences")
        if not con.execute("SELECT count(*) FROM export_sequences").fetchall()[0][0]:
            raise HtaSqlError(
                f"job {job!r}, rank {rank}: no operator with {operator!r} in its name launches "
                f"{min_length} or more GPU activities; try --min-length 1, or a name from "
                "`hta-sql run op_stats`"
            )
        for name in ("operators", "calls", "members"):
            FILES.run(con, f"sequence_{name}")
        FILES.run(con, "marks_of_sequences")
        return write_trace(out, head, lines_of_events(con, rank))
