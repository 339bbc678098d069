"""What runs in the measured processes: `child.py TASK ARGUMENTS`, both told by measure.py.

A task imports what it needs itself, so that no contestant pays for another's imports.
"""

import json
import sys
import time
from typing import Any


def ours(traces: list[str], archive: str, workers: int) -> dict[str, Any]:
    """Ingest; with one worker, say how long the enrichment took of it."""
    import importlib

    import hta_sql

    enrich_s = []
    trace = importlib.import_module("hta_sql.ingestion.trace")

    def timed(*arguments, inner=trace.enrich):
        begin = time.perf_counter()
        result = inner(*arguments)
        enrich_s.append(time.perf_counter() - begin)
        return result

    trace.enrich = timed
    summary = hta_sql.ingest(traces, archive, job="bench", workers=workers, force=True)
    for outcome in summary.traces:
        if outcome.error:
            raise SystemExit(f"{outcome.path.name}: {outcome.error}")
    counted = ("event_count", "quarantined_count", "gpu_activity_count", "host_op_count")
    rows = [{name: outcome.row[name] for name in counted} for outcome in summary.traces]
    return {"rows": rows, "enrich_s": sum(enrich_s) if enrich_s else None}


def ingested(traces: list[str], archive: str, job: str | None) -> dict[str, Any]:
    """Ingest as users do, with a worker a core."""
    import hta_sql

    summary = hta_sql.ingest(traces, archive, job=job)
    for outcome in summary.traces:
        if outcome.error:
            raise SystemExit(f"{outcome.path}: {outcome.error}")
    counted = ("event_count", "quarantined_count")
    return {"rows": [{name: outcome.row[name] for name in counted} for outcome in summary.traces]}


def session(trace: str, archive: str, queries: list[str]) -> None:
    """A trace into a new archive, and questions on it, in one process."""
    import hta_sql

    for outcome in hta_sql.ingest([trace], archive).traces:
        if outcome.error:
            raise SystemExit(outcome.error)
    with hta_sql.open(archive) as run:
        for query in queries:
            run.query(query)


def opened(archive: str) -> float:
    """Seconds to open an archive, imports aside."""
    import hta_sql
    import hta_sql.archive

    begin = time.perf_counter()
    hta_sql.open(archive).close()
    return time.perf_counter() - begin


def json_alone(trace: str, collect: bool) -> None:
    """Decompress and parse the whole file; `collect`: with Python's cycle collection, as usual."""
    import gc
    import gzip

    import orjson

    if not collect:
        gc.disable()
    with gzip.open(trace) as file:
        orjson.loads(file.read())


def cold(archive: str, query: str, parameters: dict[str, Any]) -> int:
    """Open an archive and call one query."""
    import hta_sql

    with hta_sql.open(archive) as run:
        return run.query(query, **parameters).num_rows


def warm(
    archive: str, calls: dict[str, Any], repeats: int, truth: str | None = None
) -> dict[str, dict]:
    """Call each query once and then `repeats` times; its best time.

    With the generator's plan in the file `truth` also what it answered, and whether that is right.
    """
    from truth import agrees, checksum

    import hta_sql

    result = {}
    with hta_sql.open(archive) as run:
        for name, (query, parameters) in calls.items():
            try:
                table = run.query(query, **parameters)
                times = []
                for _ in range(repeats):
                    begin = time.perf_counter()
                    run.query(query, **parameters)
                    times.append(time.perf_counter() - begin)
            except hta_sql.HtaSqlError as error:
                result[name] = {"error": str(error)}
                continue
            result[name] = {"warm_s": min(times), "rows": table.num_rows}
            if truth:
                with open(truth) as file:
                    planned = json.load(file)
                result[name] |= {
                    "checksum": checksum(table),
                    "agrees": agrees(name, table, planned),
                }
    return result


def limited(
    archive: str, calls: dict[str, Any], call_limit_s: float, repeats: int
) -> dict[str, dict[str, Any]]:
    """CPU seconds and rows of each call, or the error that ended it.

    Of `repeats` calls that are short, the best; one that is not done after `call_limit_s` is ended.
    """
    import threading

    import duckdb

    import hta_sql

    result: dict[str, dict[str, Any]] = {}
    with hta_sql.open(archive) as run:
        for name, (query, parameters) in calls.items():
            times = []
            limit = threading.Timer(call_limit_s, run.con.interrupt)
            limit.start()
            try:
                while len(times) < (1 if sum(times) > 1 else repeats):
                    begin = time.process_time()
                    if query == "compute_critical_path":
                        rows = sum(path.edge_count for path in run.compute_critical_path())
                    else:
                        rows = run.query(query, **parameters).num_rows
                    times.append(time.process_time() - begin)
                result[name] = {"cpu_s": min(times), "rows": rows}
            except (hta_sql.HtaSqlError, duckdb.Error) as error:
                result[name] = {"error": str(error).splitlines()[0]}
            finally:
                limit.cancel()
    return result


def path(archive: str, step: int) -> dict[str, float]:
    """Compute the critical path of a step, with all that is kept of it: seconds and edges."""
    import hta_sql

    with hta_sql.open(archive) as run:
        begin = time.perf_counter()
        [computed] = run.compute_critical_path(step=step)
        return {"s": time.perf_counter() - begin, "edge_count": computed.edge_count}


def generate(out: str, parameters: dict[str, Any]) -> None:
    """Write the traces of a made-up job."""
    from hta_sql.demo import write_job

    write_job(out, **parameters)


def stream(out: str, ranks: int, rank_bytes: int) -> dict[str, int]:
    """Write the traces of a job of any size."""
    from streamed import write_job

    return write_job(out, ranks, rank_bytes)


def ranks(out: str, parameters: dict[str, Any]) -> None:
    """Write an archive of many ranks."""
    from ranks import write_archive

    write_archive(out, **parameters)


def versions() -> dict[str, str]:
    """The versions that the figures depend on."""
    import platform
    from importlib.metadata import version

    import hta_sql

    packages = {name: version(name) for name in ("duckdb", "pyarrow", "orjson", "zlib-ng")}
    return {"python": platform.python_version(), **packages, "hta_sql": hta_sql.__version__}


if __name__ == "__main__":
    tasks = (
        ours,
        ingested,
        session,
        opened,
        json_alone,
        cold,
        warm,
        limited,
        path,
        generate,
        stream,
        ranks,
        versions,
    )
    task = {task.__name__: task for task in tasks}[sys.argv[1]]
    print(json.dumps(task(**json.loads(sys.argv[2]))))
