"""Archives with stored results of jobs, made without traces."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from fleets import START_NS
from written_archives import table_schemas

from hta_sql import SCHEMA_VERSION, __version__
from hta_sql.catalogue.catalog import Catalog
from hta_sql.fleet.materialize import hashes, opened
from hta_sql.fleet.result_files import publish, put_result

MS = 10**6
WEEK_NS = 7 * 86_400 * 10**9


def summary(
    job: str,
    span: int = 0,
    compute: int = 0,
    lost: int = 0,
    p50: int | None = None,
    outside: int | None = 0,
    **waits: int,
) -> dict:
    """A row of job_summary, times in ms; `waits` are communication, memory and parts of idle.

    An earlier hta_sql has stored a row without `outside`.
    """
    exposed = {n: waits.pop(n, 0) * MS for n in ("communication", "memory")}
    idle = {f"{name}_ns": waits.get(name, 0) * MS for name in _WAITS}
    assert compute * MS + sum(exposed.values()) + sum(idle.values()) == span * MS, job
    busy_ns = span * MS - sum(idle.values())
    return idle | {
        "job": job,
        "rank_count": 2,
        "gpu_span_ns": span * MS,
        "outside_ns": None if outside is None else outside * MS,
        "busy_ns": busy_ns,
        "compute_ns": compute * MS,
        "exposed_communication_ns": exposed["communication"],
        "exposed_memory_ns": exposed["memory"],
        "idle_ns": sum(idle.values()),
        "lost_gpu_ns": lost * MS,
        "step_p50_ns": p50 and p50 * MS,
        "finding_count": 0,
    }


_WAITS = ("host_wait", "launching", "queued", "kernel_wait", "unknown_wait")


def write_stored(
    root: Path,
    tags: dict[str, dict[str, str]],
    summaries: Iterable[dict],
    findings: Iterable[dict] = (),
    weeks: dict[str, int] | None = None,
    ranks: Iterable[dict] = (),
    statuses: dict[str, str] | None = None,
    rank_count: int = 2,
) -> Path:
    """An archive of jobs with these tags and stored results.

    A job begins in week 0 or as told. The status of its rank 0 is complete or as told.
    """
    root.mkdir()
    traces = [
        {
            "job": job,
            "rank": rank,
            "trace_id": f"{number}-{rank}",
            "status": (statuses or {}).get(job, "complete") if rank == 0 else "complete",
            "hta_sql_version": __version__,
            "schema_version": SCHEMA_VERSION,
            "start_ns": START_NS + (weeks or {}).get(job, 0) * WEEK_NS,
            "tags": list(of_job.items()),
        }
        for number, (job, of_job) in enumerate(tags.items())
        for rank in range(rank_count)
    ]
    schema = table_schemas()["traces"]
    pq.write_table(pa.Table.from_pylist(traces, schema=schema), root / "traces.parquet")
    with opened(root, None) as archive:
        traced = hashes(archive)
    summaries = list(summaries)
    for name, rows in (
        ("job_summary", summaries),
        ("findings", list(findings)),
        ("job_ranks", list(ranks)),
    ):
        file_id = f"made_{name}"
        table = pa.Table.from_pylist(rows, schema=table_schemas()[f"stored_{name}"])
        files = put_result(root, root, name, file_id, table)
        (root / f"{name}.parquet").unlink(missing_ok=True)
        publish(
            root,
            [
                {
                    "job": job,
                    "query": Catalog.load().stored[name],
                    "file_id": file_id,
                    "files": files,
                    "traces_hash": traced[job],
                    "row_count": 1,
                    "hta_sql_version": __version__,
                }
                for job in (row["job"] for row in summaries)
            ],
        )
    return root
