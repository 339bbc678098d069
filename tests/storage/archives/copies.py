"""Copies of archives."""

import hta_sql

TABLES = ("traces", "events", "host_ops", "gpu_activities")


def tables_of(*archives) -> dict[str, list]:
    """All rows but of what differs from one ingest to the next."""
    varying = "EXCLUDE (trace_id, file_id, files, path, modified_ns, ingested_at)"
    with hta_sql.open(*archives) as run:
        return {
            table: run.sql(
                f"SELECT * {varying if table == 'traces' else ''} FROM {table} ORDER BY ALL"
            ).to_pylist()
            for table in TABLES
        }


def statuses(summary) -> list[str]:
    return [outcome.status for outcome in summary.traces]
