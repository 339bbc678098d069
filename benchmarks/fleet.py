"""Measure an archive of a fleet, and one of a large job; README.md says what and how."""

import argparse
import csv
import gzip
import json
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import measure
from data import add_folder, say
from measure import Cost, best

ROUNDS = 3
# Of so many made-up jobs the others are copies, each at another time.
DIFFERENT = 20
HOUR_NS = 3_600_000_000_000
_BASE = re.compile(rb'("baseTimeNanoseconds": )(\d+)')
HTA_SQL = [sys.executable, "-m", "hta_sql.cli"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000, metavar="N", help="[default: 1000]")
    parser.add_argument(
        "--ranks", type=int, default=8, metavar="N", help="of each job [default: 8]"
    )
    parser.add_argument(
        "--large-gb",
        type=float,
        default=20,
        metavar="GB",
        help="JSON of the large job; 0 leaves it out [default: 20]",
    )
    add_folder(parser)
    options = parser.parse_args()
    folder = options.data.resolve() / "fleet"
    if options.jobs:
        record(fleet(folder, options.jobs, options.ranks))
    if options.large_gb:
        record(large_job(folder, options.large_gb))
    return 0


def record(found: dict[str, Any]) -> None:
    """Beside what was measured of other parts on the same day."""
    for name, value in found.items():
        print(f"{name:32} {value:,.3f}" if isinstance(value, float) else f"{name:32} {value:,}")
    file = Path(__file__).with_name("results") / f"fleet-{datetime.now(UTC):%Y%m%d}.json"
    others = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(others | found, indent=1) + "\n")


def fleet(folder: Path, jobs: int, ranks: int) -> dict[str, Any]:
    """Many small jobs: ingest beside that of one, and what questions take before and after
    compaction."""
    traces, archive = folder / "traces", folder / "archive"
    json_bytes = write_fleet(traces, jobs, ranks)
    each = json_bytes / jobs
    one = best([ingest([traces / "job-0000"], folder / "one") for _ in range(ROUNDS)])
    # As many ranks as a large job has, so that what is done once counts little.
    wide = folder / "wide"
    copies = max(1, min(32, jobs))
    write_wide(traces, wide, copies, ranks)
    of_wide = ingest([wide / "wide.csv"], folder / "wide-archive")
    all_of_them = ingest([traces / "jobs.csv"], archive)
    found = {
        "jobs": jobs,
        "ranks": ranks,
        "json_gb": json_bytes / 1e9,
        "one_job_mb_per_core_s": each / one.cpu_s / 1e6,
        "one_wide_job_mb_per_core_s": each * copies / of_wide.cpu_s / 1e6,
        "fleet_mb_per_core_s": json_bytes / all_of_them.cpu_s / 1e6,
        "fleet_ingest_s": all_of_them.wall_s,
        "fleet_ingest_peak_gb": all_of_them.peak_bytes / 1e9,
        "again_unchanged_s": ingest([traces / "jobs.csv"], archive, anew=False).wall_s,
    }
    found["fleet_over_wide"] = found["fleet_mb_per_core_s"] / found["one_wide_job_mb_per_core_s"]
    found |= {f"{name}_s": value for name, value in questions(archive, "job-0500").items()}
    kept = command("materialize", str(archive))
    found |= {"materialize_s": kept.wall_s, "materialize_peak_gb": kept.peak_bytes / 1e9}
    found |= fleet_questions(archive)
    found["files"] = count_files(archive)
    compacted = command("compact", str(archive))
    found |= {
        "compact_s": compacted.wall_s,
        "compact_peak_gb": compacted.peak_bytes / 1e9,
        "compacted_files": count_files(archive),
    }
    found |= {f"compacted_{name}_s": v for name, v in questions(archive, "job-0500").items()}
    return found


def questions(archive: Path, job: str) -> dict[str, float]:
    """Seconds of fresh processes that open the archive and ask one thing."""
    asked = {
        "job_summary": {"only_jobs": [job]},
        "temporal_breakdown": {"only_jobs": [job]},
        "kernel_stats": {"only_jobs": [job]},
    }
    times = {name: cold(archive, name, given) for name, given in asked.items()}
    times["all_jobs_temporal_breakdown"] = cold(archive, "temporal_breakdown", {}, rounds=1)
    return times


def fleet_questions(archive: Path) -> dict[str, float]:
    asked: dict[str, dict[str, Any]] = {
        "fleet_summary": {},
        "low_utilisation_jobs": {},
        "fleet_kernels": {},
        "host_outliers": {},
    }
    times = {f"{name}_s": cold(archive, name, given) for name, given in asked.items()}
    shown = [command("run", "fleet_summary", str(archive)) for _ in range(ROUNDS)]
    return times | {"cli_fleet_summary_s": best(shown).wall_s}


def large_job(folder: Path, gigabytes: float) -> dict[str, Any]:
    """One job of many gigabytes: its ingest, a quarter of it beside, and questions."""
    traces, archive = folder / "large", folder / "large-archive"
    ranks = 16
    made = traces / "made.json"
    rank_bytes = int(gigabytes * 1e9 / ranks)
    if not made.exists() or json.loads(made.read_text())["rank_bytes"] != rank_bytes:
        shutil.rmtree(traces, ignore_errors=True)
        say(f"writing a job of {gigabytes:g} GB")
        written = measure.run_child(
            "stream", out=str(traces), ranks=ranks, rank_bytes=rank_bytes, one_core=False
        ).said
        made.write_text(json.dumps(written | {"rank_bytes": rank_bytes}))
    written = json.loads(made.read_text())
    files = [traces / f"rank_{rank}.json" for rank in range(ranks)]
    found: dict[str, Any] = {
        "large_json_gb": written["bytes"] / 1e9,
        "large_event_count": written["event_count"],
    }
    for name, part in (("quarter", ranks // 4), ("whole", ranks)):
        size = sum(file.stat().st_size for file in files[:part])
        cost = ingest(files[:part], archive, job="large")
        found |= {
            f"large_{name}_s": cost.wall_s,
            f"large_{name}_mb_per_core_s": size / cost.cpu_s / 1e6,
            f"large_{name}_peak_worker_gb": cost.peak_bytes / 1e9,
        }
    rows = cost.said["rows"]
    if (
        sum(row["event_count"] + row["quarantined_count"] for row in rows)
        != (written["event_count"])
    ):
        raise measure.Failed("events are missing")
    # Ranks are read one by one: ten times as many take ten times as long.
    found["extrapolated_200_gb_core_h"] = 2e5 / found["large_whole_mb_per_core_s"] / 3600
    found["large_archive_gb"] = sum(f.stat().st_size for f in archive.rglob("*.parquet")) / 1e9
    for query in ("temporal_breakdown", "job_summary", "kernel_stats"):
        cost = measure.run_child(
            "cold", archive=str(archive), query=query, parameters={}, one_core=False
        )
        found |= {f"large_{query}_s": cost.wall_s, f"large_{query}_peak_gb": cost.peak_bytes / 1e9}
    return found


def ingest(traces: list[Path], archive: Path, *, job: str | None = None, anew: bool = True) -> Cost:
    """By two workers, on all cores; into a fresh archive unless told."""
    if anew:
        shutil.rmtree(archive, ignore_errors=True)
    cost = measure.run_child(
        "ingested",
        traces=[str(path) for path in traces],
        archive=str(archive),
        job=job,
        one_core=False,
    )
    say(
        f"{traces[0].name} … ({len(traces)}): {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s CPU, "
        f"{cost.peak_bytes / 1e9:.2f} GB"
    )
    return cost


def cold(archive: Path, query: str, given: dict[str, Any], rounds: int = ROUNDS) -> float:
    cost = best(
        [
            measure.run_child("cold", archive=str(archive), query=query, parameters=given)
            for _ in range(rounds)
        ]
    )
    say(f"{query}: {cost.wall_s:.2f} s, {cost.peak_bytes / 1e9:.2f} GB")
    return cost.wall_s


def command(*arguments: str) -> Cost:
    cost = measure.run([*HTA_SQL, *arguments], one_core=False)
    say(f"{arguments[0]}: {cost.wall_s:.1f} s, {cost.peak_bytes / 1e9:.2f} GB")
    return cost


def count_files(archive: Path) -> int:
    return sum(1 for _ in archive.rglob("*.parquet"))


def write_fleet(folder: Path, jobs: int, ranks: int) -> int:
    """The traces of `jobs` jobs with a list of them, jobs.csv; bytes of JSON in all."""
    made = folder / "made.json"
    wanted = {"jobs": jobs, "ranks": ranks}
    if made.exists() and (said := json.loads(made.read_text())).items() >= wanted.items():
        return said["bytes"]
    shutil.rmtree(folder, ignore_errors=True)
    say(f"writing the traces of {jobs} jobs")
    size = 0
    with_tags = []
    for number in range(jobs):
        base = folder / f"base-{number % DIFFERENT}"
        if number < DIFFERENT:
            measure.run_child(
                "generate",
                out=str(base),
                one_core=False,
                parameters={
                    "ranks": ranks,
                    "steps": 3,
                    "layers": 1,
                    "seed": number,
                    "bottleneck": (None, "launch", "compute", "communication")[number % 4],
                },
            )
        target = folder / f"job-{number:04d}"
        target.mkdir()
        for rank in range(ranks):
            text = gzip.decompress((base / f"rank_{rank}.json.gz").read_bytes())
            size += len(text)
            later = _BASE.sub(lambda m, n=number: m[1] + b"%d" % (int(m[2]) + n * HOUR_NS), text)
            file = target / f"rank_{rank}.json.gz"
            file.write_bytes(gzip.compress(later, 1, mtime=0))
            with_tags.append(
                [
                    f"{target.name}/{file.name}",
                    target.name,
                    rank,
                    f"model-{number % 7}",
                    f"team-{number % 13}",
                ]
            )
    with (folder / "jobs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["path", "job", "rank", "model", "team"], *with_tags])
    made.write_text(json.dumps(wanted | {"bytes": size}))
    return size


def write_wide(traces: Path, folder: Path, copies: int, ranks: int) -> None:
    """One job of as many ranks as `copies` jobs have, of the same traces."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with (folder / "wide.csv").open("w", newline="") as file:
        lines = [
            [str(traces / f"job-{job:04d}" / f"rank_{rank}.json.gz"), "wide", job * ranks + rank]
            for job in range(copies)
            for rank in range(ranks)
        ]
        csv.writer(file).writerows([["path", "job", "rank"], *lines])


if __name__ == "__main__":
    sys.exit(main())
