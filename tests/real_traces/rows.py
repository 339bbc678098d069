"""Rows of a real trace."""

from real_files import TraceFile

from hta_sql.catalogue.catalog import Catalog

BRUTE_FORCE = [
    "temporal_breakdown",
    "step_breakdown",
    "comm_comp_overlap",
    "kernel_kind_breakdown",
    "kernel_stats",
    "profiler_steps",
]


QUERIES = [(query.name, query.version) for query in Catalog.load().queries if not query.required]


def rows_of(run, table: str, file: TraceFile, columns: list[str]) -> list[dict]:
    """A table's rows of one trace by event_id, without job and rank."""
    wanted = ", ".join(f'"{column}"' for column in columns)
    return run.sql(
        f"SELECT {wanted} FROM {table} WHERE job = $job AND rank = $rank ORDER BY event_id",
        {"job": file.job, "rank": file.rank},
    ).to_pylist()


ACTIVITY_COLUMNS = [
    "event_id",
    "cat",
    "name",
    "kind",
    "device",
    "stream",
    "start_ns",
    "dur_ns",
    "end_ns",
    "launch_id",
    "step",
    "op_id",
    "annotation_id",
]
