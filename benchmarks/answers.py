"""What small jobs cost, in CPU time beside a fixed loop in the same run.

    python benchmarks/answers.py [--repetitions 3] [--hta]

The unit is the CPU time of 12,000,000 squares in Python, so that figures of different machines and
hours can be compared. Prints each figure with its limit; the exit status is 1 if one is above it.
With --hta, it also prints what HTA takes for the small rank, and we for the same analyses.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import data
import measure
from real import ANALYSES, HTA_SCRIPT

UNIT = "for i in range(12_000_000): i * i"
# All queries once in one process, with Arrow imported before: prints the CPU time of each.
QUERIES = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import hta_sql
from hta_sql.catalogue.catalog import Catalog
required = {"kernel_sequences": {"operator": "aten::linear", "min_length": 1},
            "call_stack": {"of_event": 0},
            "between_events": {"first_name": "aten::%", "second_name": "aten::%"}}
run, cost = hta_sql.open(sys.argv[1]), {}
run.sql("FROM jobs")
for name, query in Catalog.load().newest.items():
    given = required.get(name, {p.name: "aten::%" for p in query.required})
    begin = time.process_time()
    run.query(name, **given)
    cost[name] = time.process_time() - begin
print(json.dumps(cost))
"""
# The statement of a plain DuckDB shell.
SHELL = """
import json, os, sys, time, duckdb
os.chdir(sys.argv[1])
con = duckdb.connect("hta.duckdb", read_only=True)
begin = time.process_time()
con.sql("FROM findings()").fetchall()
print(json.dumps({"findings": time.process_time() - begin}))
"""
DEMO = """
import sys
from pathlib import Path
from hta_sql.demo import write_job
write_job(Path(sys.argv[1]), **eval(sys.argv[2]))
"""
LIMITS = {
    "all queries once, 1 small rank": 5,
    "the slowest of them but for findings and job_summary": 0.3,
    "the slower of findings and job_summary": 0.9,
    "all queries once, 8 ranks": 7,
    "FROM findings() in plain DuckDB, 8 ranks, computed": 2.5,
    "FROM findings() in plain DuckDB, 8 ranks, stored": 0.15,
    "doctor on a new trace": 1.5,
    "report, 8 ranks": 5,
    "report, 1 small rank": 3,
    "ingest of a new trace": 0.95,
    "ingest of an unchanged trace": 0.6,
}


def python(code: str, *arguments: object) -> measure.Cost:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return measure.run(command, one_core=False)


def hta_sql(*arguments: object) -> measure.Cost:
    command = [sys.executable, "-m", "hta_sql.cli", *map(str, arguments)]
    return measure.run(command, one_core=False)


def figures(folder: Path) -> dict[str, float]:
    """CPU seconds by the names of LIMITS, in an empty folder."""
    one, eight = folder / "one", folder / "eight"
    python(DEMO, one, {"ranks": 1, "steps": 2, "layers": 2})
    python(DEMO, eight, {"ranks": 8})
    hta_sql("ingest", eight, folder / "b")  # also makes what is made once on a machine
    found = {
        "ingest of a new trace": hta_sql("ingest", one, folder / "a").cpu_s,
        "ingest of an unchanged trace": hta_sql("ingest", one, folder / "a").cpu_s,
        "doctor on a new trace": hta_sql("doctor", one).cpu_s,
    }
    small = python(QUERIES, folder / "a").said
    large = python(QUERIES, folder / "b").said
    slow = {"findings", "job_summary"}
    found |= {
        "all queries once, 1 small rank": sum(small.values()),
        "all queries once, 8 ranks": sum(large.values()),
        "the slowest of them but for findings and job_summary": max(
            cost[name] for cost in (small, large) for name in cost if name not in slow
        ),
        "the slower of findings and job_summary": max(
            cost[name] for cost in (small, large) for name in slow
        ),
        "report, 1 small rank": hta_sql("report", folder / "a", "-o", folder / "a.html").cpu_s,
        "report, 8 ranks": hta_sql("report", folder / "b", "-o", folder / "b.html").cpu_s,
    }
    computed = python(SHELL, folder / "b").said["findings"]
    hta_sql("materialize", folder / "b")
    return found | {
        "FROM findings() in plain DuckDB, 8 ranks, computed": computed,
        "FROM findings() in plain DuckDB, 8 ranks, stored": python(SHELL, folder / "b").said[
            "findings"
        ],
    }


def beside_hta(folder: Path) -> dict[str, tuple[float, float]]:
    """Seconds of HTA and of us: to load the small rank, and for each analysis once."""
    [trace] = (folder / "one").glob("rank_0.*")
    calls = {method: arguments for method, arguments in ANALYSES.values()}
    theirs = measure.run_child(
        "load",
        python=data.hta_python(),
        script=HTA_SCRIPT,
        one_core=False,
        trace=str(trace),
        calls=calls,
        repeats=1,
        enough_s=1.0,
    ).said
    ours = python(QUERIES, folder / "a").said
    load = hta_sql("ingest", trace, folder / "c").wall_s
    return {"load": (theirs["wall_s"], load)} | {
        query: (theirs["calls"][method], ours[query]) for query, (method, _) in ANALYSES.items()
    }


def main(repetitions: int, with_hta: bool) -> int:
    units, all_found, beside = [], [], {}
    for _ in range(repetitions):
        units.append(python(UNIT).cpu_s)
        with tempfile.TemporaryDirectory() as folder:
            # doctor keeps what it has read in the cache folder.
            measure.ENVIRONMENT["XDG_CACHE_HOME"] = f"{folder}/cache"
            all_found.append(figures(Path(folder)))
            if with_hta:
                beside = beside_hta(Path(folder))
    unit = min(units)
    costs = {name: min(found[name] for found in all_found) / unit for name in LIMITS}
    for name, most in LIMITS.items():
        verdict = "" if costs[name] <= most else "  above"
        print(f"{costs[name]:6.2f}  at most {most:4g}  {name}{verdict}")
    for name, (theirs, ours) in beside.items():
        print(f"HTA {theirs:5.2f} s, hta_sql {ours:5.2f} s  {name}")
    print(json.dumps({"unit_s": unit, "units": costs}))
    return int(any(costs[name] > most for name, most in LIMITS.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What small jobs cost")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--hta", action="store_true")
    options = parser.parse_args()
    sys.exit(main(options.repetitions, options.hta))
