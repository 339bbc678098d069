"""Measure the page with all jobs of an archive; README.md says what and how."""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

import measure
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from data import add_folder, say
from fleet import DIFFERENT, HOUR_NS, HTA_SQL, ROUNDS, command, ingest, record, write_fleet
from measure import best

from hta_sql.fleet.result_files import publish, put_result

# The results that the page reads.
READ = ("job_summary", "findings", "job_ranks")
RANKS = 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--jobs", type=int, nargs="+", default=[1000, 10_000], metavar="N", help="of each archive"
    )
    add_folder(parser)
    options = parser.parse_args()
    folder = options.data.resolve() / "fleet-page"
    few = folder / "few"
    write_fleet(folder / "traces", DIFFERENT, RANKS)
    ingest([folder / "traces" / "jobs.csv"], few)
    command("materialize", str(few))
    found: dict[str, Any] = {}
    for jobs in options.jobs:
        archive = copied(few, folder / f"of-{jobs}", jobs)
        page = folder / f"page-{jobs}"
        cost = best(
            [
                measure.run([*HTA_SQL, "report", "--fleet", str(archive), "-o", str(page)])
                for _ in range(ROUNDS)
            ]
        )
        found |= {
            f"page_{jobs}_s": cost.wall_s,
            f"page_{jobs}_peak_gb": cost.peak_bytes / 1e9,
            f"page_{jobs}_mb": (page / "index.html").stat().st_size / 1e6,
        }
        found |= in_browser(page / "index.html", jobs)
    record(found)
    return 0


def copied(few: Path, root: Path, jobs: int) -> Path:
    """An archive of `jobs` jobs: the traces and results of a few, each an hour later."""
    say(f"writing an archive of {jobs} jobs")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    traces = several(few / "traces.parquet", jobs)
    # The page reads no events, and so the files of traces are not copied.
    pq.write_table(traces.drop_columns("files"), root / "traces.parquet")
    kept = several(few / "kept_results.parquet", jobs).to_pylist()
    for name in READ:
        [file] = (few / "results" / f"kept_{name}").glob("*.parquet")
        files = put_result(root, root, name, "copied", several(file, jobs))
        (root / f"{name}.parquet").unlink(missing_ok=True)
        named = {"file_id": "copied", "files": files}
        publish(root, [row | named for row in kept if row["query"].rpartition("_v")[0] == name])
    return root


def several(file: Path, jobs: int) -> pa.Table:
    """The rows of a table, once for each job that has the same traces."""
    table = pq.read_table(file)
    parts = []
    for number in range(jobs):
        mine = table.filter(pc.field("job") == f"job-{number % DIFFERENT:04d}")
        part = mine.set_column(
            mine.schema.get_field_index("job"),
            "job",
            pa.array([f"job-{number:05d}"] * mine.num_rows, pa.string()),
        )
        if "start_ns" in part.column_names:
            at = part.schema.get_field_index("start_ns")
            later = pc.add(part["start_ns"], number // DIFFERENT * DIFFERENT * HOUR_NS)
            part = part.set_column(at, "start_ns", later)
        parts.append(part)
    return pa.concat_tables(parts)


def in_browser(page: Path, jobs: int) -> dict[str, float]:
    """Seconds until the page shows its rows, and of the slowest of sorts and searches."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        shown = browser.new_page()
        shown.goto(page.as_uri())
        times = shown.evaluate(
            """() => {
                const acts = [
                    ...[...document.querySelectorAll("#table th button")].map(
                        (head) => () => head.click()),
                    ...["j", "job-00", "gpu"].map((text) => () => {
                        document.getElementById("text").value = text;
                        document.getElementById("text").dispatchEvent(new Event("input"));
                    }),
                ];
                return acts.map((act) => {
                    const begin = performance.now();
                    act();
                    document.body.getBoundingClientRect();
                    return performance.now() - begin;
                });
            }"""
        )
        load_ms = shown.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        browser.close()
    return {f"browser_{jobs}_load_s": load_ms / 1e3, f"browser_{jobs}_act_s": max(times) / 1e3}


if __name__ == "__main__":
    sys.exit(main())
