"""What runs with the code of a commit: told in lines of JSON what to do, it answers in others.

same_answers.py starts it with PYTHONPATH at a checkout, and ends it where it takes too long.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import same_archives
from same_calls import TABLES, VARIED, VOLATILE, Facts, calls_of

import hta_sql

_open: dict[str, Any] = {}


def opened(archive: str) -> Any:
    if archive not in _open:
        for other in _open.values():
            other.close()
        _open.clear()
        _open[archive] = hta_sql.open(archive)
    return _open[archive]


def where() -> str:
    """The folder whose code this is."""
    return str(Path(hta_sql.__file__).resolve().parents[1])


def make(name: str, folder: str) -> str:
    return str(same_archives.make(name, Path(folder)))


def materialize(archive: str) -> None:
    opened(archive).materialize()


def calls(archive: str, with_each_job: bool) -> list[dict[str, Any]]:
    """All that is asked of an archive; `is_first` tells a query with what it needs, no more."""
    run = opened(archive)
    name = Path(archive).name
    facts = Facts.of(run, name)
    asked = [{"table": table, "given": {}, "is_first": False} for table in TABLES]
    for query in run.sql("FROM hta_queries ORDER BY name, version").to_pylist():
        is_varied = query["theme"] in VARIED.get(name, ())
        given_to = calls_of(query["parameters"], facts, is_varied, with_each_job)
        for at, given in enumerate(given_to):
            named = {"query": query["name"], "version": query["version"]}
            asked.append(named | {"given": given, "is_first": at == 0})
    return asked


def answer(archive: str, call: dict[str, Any], file: str) -> dict[str, Any]:
    """Ask, and write the rows into a file."""
    run = opened(archive)
    begin = time.perf_counter()
    try:
        found = digest(run, call["table"]) if "table" in call else ask(run, call)
    except hta_sql.HtaSqlError as error:
        return {"error": str(error).replace(archive, "ARCHIVE")}
    took_s = time.perf_counter() - begin
    pq.write_table(found, file, compression="zstd")
    columns = [f"{column.name} {column.type}" for column in found.schema]
    return {"rows": found.num_rows, "columns": columns, "s": took_s}


def timed(archive: str, call: dict[str, Any]) -> dict[str, Any]:
    run = opened(archive)
    begin = time.perf_counter(), time.process_time()
    try:
        ask(run, call)
    except hta_sql.HtaSqlError as error:
        return {"error": str(error)}
    return {"s": time.perf_counter() - begin[0], "cpu_s": time.process_time() - begin[1]}


def ask(run: Any, call: dict[str, Any]) -> pa.Table:
    return run.query(call["query"], version=call["version"], **call["given"])


def digest(run: Any, table: str) -> pa.Table:
    """How many rows a table has of each job and rank, and a hash of each column of them."""
    columns = run.sql(f"FROM {table} LIMIT 0").column_names
    keys = [column for column in ("job", "rank") if column in columns]
    if not keys:
        return run.sql(f"FROM {table} ORDER BY ALL")
    hashes = [
        f"sum(hash({column}))::VARCHAR AS {column}"
        for column in columns
        if column not in VOLATILE and column not in keys
    ]
    selected = ", ".join([*keys, "count(*) AS counted", *hashes])
    return run.sql(f"SELECT {selected} FROM {table} GROUP BY {', '.join(keys)} ORDER BY ALL")


def main() -> None:
    # Whatever else is printed shall not stand between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    tasks = {task.__name__: task for task in (where, make, materialize, calls, answer, timed)}
    for line in sys.stdin:
        told = json.loads(line)
        done = tasks[told["task"]](**told["arguments"])
        print(json.dumps(done), file=answers, flush=True)


if __name__ == "__main__":
    main()
