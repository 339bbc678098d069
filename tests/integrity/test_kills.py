"""Commands that are killed at a random step: nothing is torn, lost or double, nothing stays."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from integrity.conftest import JOBS
from integrity.damage import listed

import hta_sql
from hta_sql.store.verify import verify

pytestmark = pytest.mark.processes

# So many kills of each command: `make soak` asks for more.
KILLS = int(os.environ.get("SOAK_KILLS", 10))
# Forks a process per line of stdin, `<step> <call>`, which kills itself at the step of this number:
# it counts what it does with files of the archive. Prints its exit status and its steps.
DRIVER = """
import os, signal, sys
import hta_sql, hta_sql.archive, hta_sql.fleet.materialize, hta_sql.ingestion.ingest
import hta_sql.keeping.drop, hta_sql.keeping.move
archive = sys.argv[1]
EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "shutil.move"}
for line in sys.stdin:
    at, call = line.rstrip().split(" ", 1)
    seen, told = os.pipe()
    child = os.fork()
    if not child:
        steps = 0
        def count(event, arguments):
            global steps
            if event in EVENTS and any(str(a).startswith(archive) for a in arguments if a):
                steps += 1
                if steps == int(at):
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        exec(call)
        os.write(told, str(steps).encode())
        os._exit(0)
    os.close(told)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), os.read(seen, 20).decode() or 0, flush=True)
    os.close(seen)
"""
COMMANDS = {
    "ingest": "hta_sql.ingest(TRACES, archive, workers=1)",
    "force": "hta_sql.ingest(TRACES, archive, workers=1, force=True)",
    "compact": "hta_sql.compact(archive)",
    "materialize": "hta_sql.materialize(archive, force=True)",
    "drop": "hta_sql.drop(archive, jobs=['llama'])",
    "import": "hta_sql.import_job(archive + '-source', archive, job='copied')",
}
RANKS = {(job, rank) for job, count in JOBS.items() for rank in range(count)}


class Killer:
    """Runs a call that changes an archive, and kills it at a step."""

    def __init__(self, archive: Path, call: str):
        words = [sys.executable, "-c", DRIVER, str(archive)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(words, text=True, **pipes)
        self._call = call

    def run(self, at: int = 0) -> tuple[int, int]:
        """The exit status and the number of steps. Step 0 never comes."""
        self._process.stdin.write(f"{at} {self._call}\n")
        self._process.stdin.flush()
        status, steps = self._process.stdout.readline().split()
        return int(status), int(steps)

    def close(self) -> None:
        self._process.communicate()


def ranks(archive: Path) -> dict[tuple[str, int], int]:
    """The events of each rank. The archive is whole: counts and checksums are right."""
    with hta_sql.open(archive) as opened:
        assert opened.check_tables() == []
        events = "SELECT job, rank, count(DISTINCT event_id) AS n, count(*) AS m FROM events"
        found = opened.sql(f"{events} GROUP BY ALL").to_pylist()
    assert verify(archive).damages == []
    assert all(row["n"] == row["m"] for row in found)
    return {(row["job"], row["rank"]): row["n"] for row in found}


@pytest.fixture
def before(command: str, archive: Path, traces: Path) -> Path:
    """The archive before the command."""
    if command == "ingest":
        shutil.rmtree(archive)
        hta_sql.ingest(traces / "bert", archive, workers=1)
    if command == "import":
        hta_sql.export_job(archive, f"{archive}-source", job="llama")
    return archive


@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_a_random_step(command, before, traces, tmp_path, request):
    archive, kept = before, tmp_path / "kept"
    shutil.copytree(archive, kept)
    whole_before = ranks(kept)
    call = COMMANDS[command].replace("TRACES", repr(str(traces)))
    killer = Killer(archive, call)
    request.addfinalizer(killer.close)
    status, steps = killer.run()
    assert status == 0
    after = ranks(archive)
    drawn, kills = random.Random(command), 0
    for at in sorted(drawn.sample(range(1, steps + 1), min(KILLS, steps))):
        shutil.rmtree(archive)
        shutil.copytree(kept, archive)
        status, taken = killer.run(at)
        if status == 0 and taken < at:
            continue  # a fast run writes manifests less often, so it has fewer steps
        assert status == -9, at
        kills += 1
        there = ranks(archive)
        assert there.items() <= (whole_before | after).items(), at
        # A job is dropped, or imported, as a whole.
        for job in ("llama", "copied"):
            if command in ("drop", "import"):
                assert sum(of == job for of, _ in there) in (0, JOBS["llama"]), at
        again = call
        if command == "drop" and not any(job == "llama" for job, _ in there):
            again = "hta_sql.drop(archive, older_than='90000w')"  # finds nothing, and clears up
        if command == "import" and any(job == "copied" for job, _ in there):
            again = call.replace(")", ", force=True)")
        exec(again, {"hta_sql": hta_sql, "archive": str(archive)})
        assert ranks(archive) == after, at
        assert left(archive) == set(), at
    assert kills > min(KILLS, steps) // 2


def left(archive: Path) -> set[str]:
    """The files of the archive that nothing needs."""
    known = set(listed(archive)) | {".lock", ".moved", "hta.duckdb", ".hta.duckdb.sha256"}
    for name in ("traces", "attachments", "critical_paths", "kept_results"):
        known |= {f"{name}.parquet", f".{name}.parquet.sha256"}
    files = (file for file in archive.rglob("*") if file.is_file())
    return {file.relative_to(archive).as_posix() for file in files} - known
