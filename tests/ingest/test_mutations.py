"""Traces damaged at random: no traceback, no query that fails, no event lost that the damage did
not touch, and every element is an event or in quarantine, once.

`make soak` runs very many, with all queries after each hundred.
"""

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import every_query
import pyarrow.parquet as pq
import pytest
from ingest.mutants import cases
from raw_events import parse
from real_files import TRACES
from seeds import seeds

import hta_sql
from hta_sql.ingestion.stream import NotATrace
from hta_sql.ingestion.trace import IngestedTrace, ingest_trace

SEEDS = 20
MUTATIONS_EACH = 40
IN_ONE_ARCHIVE = 100

pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="no shared/traces here")


def check(found: IngestedTrace, untouched: list[bytes]) -> None:
    events = pq.read_table(found.files["events"], columns=["event_id", "ph", "name"]).to_pydict()
    bad = []
    if "quarantine" in found.files:
        bad = pq.read_table(found.files["quarantine"])["event_id"].to_pylist()
    ids = sorted(events["event_id"] + bad)
    assert ids == list(range(len(ids)))
    facts = found.facts
    assert (facts["event_count"], facts["quarantined_count"]) == (len(ids) - len(bad), len(bad))
    wanted = Counter((event["ph"], event.get("name")) for event in map(parse, untouched))
    assert not wanted - Counter(zip(events["ph"], events["name"], strict=True))


def run(folder: Path, seed: int, count: int) -> int:
    """How many of the cases were read; the others are refused, with their reason."""
    read = 0
    for number, case in enumerate(cases(seed, count)):
        file, staging = folder / "rank_0.json", folder / str(number)
        file.write_bytes(case.data)
        try:
            check(ingest_trace(file, staging), case.untouched)
            read += 1
        except NotATrace as refused:
            assert not case.untouched and "\n" not in str(refused)
        except BaseException as error:
            error.add_note(f"seed {seed}, case {number}")
            raise
        shutil.rmtree(staging, ignore_errors=True)
    return read


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_mutations(tmp_path, seed):
    assert run(tmp_path, seed, MUTATIONS_EACH) > MUTATIONS_EACH / 2


def ask_all(folder: Path, seed: int) -> list[str]:
    """Each query on an archive of many mutants; a line for each that fails."""
    for number, case in enumerate(cases(seed, IN_ONE_ARCHIVE)):
        job = folder / "traces" / str(number)
        job.mkdir(parents=True)
        zipped = case.data.startswith(b"\x1f\x8b")
        (job / ("rank_0.json.gz" if zipped else "rank_0.json")).write_bytes(case.data)
    summary = hta_sql.ingest(folder / "traces", folder / "archive", workers=1)
    assert all("\n" not in str(trace.error) for trace in summary.traces if trace.error)
    with hta_sql.open(folder / "archive") as run:
        wrong = run.sql("""
            SELECT t.job
            FROM traces AS t
            JOIN (
                SELECT
                    job,
                    count(*) AS n,
                    max(event_id) + 1 AS next,
                    count(DISTINCT event_id) AS ids
                FROM (
                    SELECT job, event_id FROM events
                    UNION ALL
                    SELECT job, event_id FROM quarantine
                )
                GROUP BY job
            ) AS e ON e.job = t.job
            WHERE e.n <> t.event_count + t.quarantined_count OR e.n <> e.next OR e.n <> e.ids
        """)["job"].to_pylist()
    return [f"mutant {job}: events and quarantine do not add up" for job in wrong] + [
        *every_query.failures(folder / "archive")
    ]


@pytest.mark.queries
def test_queries_of_mutants(tmp_path):
    assert ask_all(tmp_path, seed=1000) == []


def soak(first: int, total: int) -> int:
    """Run very many; returns how many archives had failures."""
    failed = 0
    for seed in range(first, first + total // IN_ONE_ARCHIVE):
        with tempfile.TemporaryDirectory() as scratch:
            found = ask_all(Path(scratch), seed)
        print(f"seed {seed}:", *(found or ["good"]), sep="\n    ", flush=True)
        failed += bool(found)
    return failed


if __name__ == "__main__":
    sys.exit(soak(int(sys.argv[1]), int(sys.argv[2])) > 0)
