"""Limits and signals, with real processes: how they end, and what they leave behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from shared import group_ends

from hta_sql.cli import cli
from hta_sql.engines.machine import bytes_of, core_count, free_bytes
from hta_sql.errors import BadParameter

ENDLESS = "SELECT count(*) FROM range(1000000000000000)"
# DuckDB computes this while it plans, deaf to signals and to its own limits.
DEAF = "SELECT length(repeat('x', 3000000000))"


def start(*words: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "hta_sql.cli", *map(str, words)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def ended(process: subprocess.Popen, seconds: float = 60) -> tuple[int, str]:
    out, err = process.communicate(timeout=seconds)
    assert "Traceback" not in err and "resource_tracker" not in err
    return process.returncode, err.strip()


@pytest.mark.processes
@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--timeout", "1", ENDLESS], 124, "the time limit of 1 s is reached"),
        (["--safe", "--timeout", "1", DEAF], 124, "the time limit of 1 s is reached"),
        (["--safe", "--memory-limit", "300MB", DEAF], 1, "memory is not enough"),
        (
            ["--memory-limit", "200MB", "SELECT list(range) FROM range(1000000000)"],
            1,
            "the 190.7 MiB that DuckDB may use are not enough",
        ),
    ],
)
def test_limits_of_sql(tiny_archive, words, status, says):
    began = time.monotonic()
    code, text = ended(start("sql", tiny_archive, *words))
    assert code == status and says in text and len(text.splitlines()) == 1
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--memory-limit", "much"], "not a size"),
        (["--memory-limit", "1kB"], "at least 64MB"),
        (["--timeout", "0"], "not in the range"),
        (["--threads", "0"], "not in the range"),
    ],
)
def test_wrong_limits(tiny_archive, options, says):
    result = CliRunner().invoke(cli, ["sql", str(tiny_archive), "SELECT 1", *options])
    assert result.exit_code == 2 and says in result.stderr


def test_sizes():
    sizes = ("64MB", "1.5g", "2GiB", "4 GB", "128000k")
    assert list(map(bytes_of, sizes)) == [
        64_000_000,
        1_500_000_000,
        2 << 30,
        4_000_000_000,
        128_000_000,
    ]
    for text in ("", "GB", "-1GB", "1PB", "64M1", "1 2 GB"):
        with pytest.raises(BadParameter):
            bytes_of(text)


def test_limits_of_the_machine(monkeypatch):
    monkeypatch.setenv("HTA_SQL_THREADS", "1")
    monkeypatch.setenv("HTA_SQL_MEMORY_LIMIT", "100MB")
    assert core_count() == 1 and free_bytes() <= 100_000_000
    monkeypatch.setenv("HTA_SQL_THREADS", "many")
    with pytest.raises(BadParameter):
        core_count()


def test_threads_and_memory_reach_duckdb(tiny_archive, monkeypatch):
    for name in ("HTA_SQL_THREADS", "HTA_SQL_MEMORY_LIMIT"):
        monkeypatch.setenv(name, "")  # so that it is put back afterwards
    words = ["--threads", "1", "--memory-limit", "123MB", "--format", "csv"]
    asked = "SELECT current_setting('threads'), current_setting('memory_limit')"
    result = CliRunner().invoke(cli, ["sql", str(tiny_archive), asked, *words])
    assert result.stdout.splitlines()[1] == '1,"117.3 MiB"'


def test_max_rows(tiny_archive):
    for form, lines in (("csv", 3), ("json", 4), ("table", 3)):
        words = ["sql", str(tiny_archive), "FROM range(5)", "--max-rows", "2", "--format", form]
        result = CliRunner().invoke(cli, words)
        assert len(result.stdout.splitlines()) == lines
        assert result.stderr == "only the first 2 rows (--max-rows)\n"
    result = CliRunner().invoke(cli, [*words[:3], "--max-rows", "5", "--format", "csv"])
    assert (len(result.stdout.splitlines()), result.stderr) == (6, "")


@pytest.mark.processes
@pytest.mark.parametrize(
    ("number", "status", "says"),
    [
        (signal.SIGINT, 130, "Interrupted"),
        (signal.SIGTERM, 143, "Terminated"),
        (signal.SIGHUP, 129, "Hung up"),
    ],
)
def test_signals_end_a_query(tiny_archive, tmp_path, number, status, says):
    out = tmp_path / "out.csv"
    out.write_text("before")
    process = start("sql", tiny_archive, f"FROM range({10**12})", "-o", out, cwd=tmp_path)
    wait_for(lambda: len(list(tmp_path.iterdir())) > 1, process)
    process.send_signal(number)
    began = time.monotonic()
    assert ended(process) == (status, says)
    assert time.monotonic() - began < 2
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert out.read_text() == "before"


def wait_for(seen, process: subprocess.Popen, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not seen():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    from hta_sql.demo import write_job

    folder = tmp_path_factory.mktemp("limits") / "traces"
    write_job(folder, ranks=3, steps=8)
    return folder


@pytest.mark.processes
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_an_ingest(traces, tmp_path, number):
    """To the whole group, as a terminal sends it: workers end, and nothing is left."""
    archive = tmp_path / "archive"
    process = start("ingest", traces, archive, "--workers", "2", start_new_session=True)
    wait_for(lambda: any(archive.glob(".staging/*/*")), process)
    os.killpg(process.pid, number)
    code, text = ended(process)
    assert code == {signal.SIGINT: 130}.get(number, 128 + number)
    assert not list(archive.glob(".staging/*"))
    assert group_ends(process.pid)


@pytest.mark.processes
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_materialize(demo_archive, tmp_path, number):
    archive = tmp_path / "archive"
    shutil.copytree(demo_archive, archive)
    before = files_in(archive)
    process = start("materialize", archive, start_new_session=True)
    wait_for(lambda: any(archive.glob(".staging/*")), process)
    time.sleep(0.3)
    os.killpg(process.pid, number)
    code, text = ended(process)
    assert (code, text) in ((130, "Interrupted"), (143, "Terminated"))
    assert not list(archive.glob(".staging/*")) and "failed" not in text
    assert files_in(archive) - before <= {".lock", ".staging", "results"}


@pytest.mark.processes
def test_time_limits_of_other_commands(demo_archive, tmp_path):
    """One way for all commands: each ends in time, and leaves no file."""
    shutil.copytree(demo_archive, tmp_path / "archive")
    before = files_in(tmp_path)
    for words in (
        ["doctor", "archive"],
        ["report", "archive"],
        ["materialize", "archive"],
        ["critical-path", "archive", "--step", "0"],
        ["export", "perfetto", "archive", "out.json"],
        ["diff", "archive", "archive", "--base-ranks", "0", "--test-ranks", "1"],
    ):
        code, text = ended(start(*words, "--timeout", "0.05", cwd=tmp_path))
        assert code == 124 and text.startswith("Error: the time limit of 0.05 s"), (words, text)
        assert files_in(tmp_path) - before <= {"archive/.lock", "archive/.staging"}


@pytest.mark.processes
def test_a_reader_that_closes_is_no_error(tiny_archive):
    for form in ("csv", "json", "arrow", "parquet", "table"):
        process = start("sql", tiny_archive, "FROM range(100000)", "--format", form)
        process.stdout.read(1) if form not in ("arrow", "parquet") else process.stdout.buffer.read(
            1
        )
        process.stdout.close()
        assert process.stderr.read() == "", form
        assert process.wait(30) == 0, form
        process.stderr.close()
