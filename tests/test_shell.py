"""DuckDB's own command line on an archive, which is of another version than the library."""

import os
import pty
import select
import shutil
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from written_archives import activity

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.database import shell
from hta_sql.database.shell import run_shell
from hta_sql.database.shell_database import write_database
from hta_sql.errors import HtaSqlError

needs_shell = pytest.mark.skipif(
    not shutil.which("duckdb", path=str(Path(sys.executable).parent)),
    reason="no duckdb command line beside Python: pip install 'hta-sql[shell]'",
)


@pytest.fixture
def ask(capfd):
    """Run the shell: ask(archive, "SQL") gives the lines it printed."""

    def ask(archive: Path, *commands: str) -> list[str]:
        status = run_shell(archive, [".mode csv", *commands])
        out, err = capfd.readouterr()
        assert (status, err) == (0, "")
        return out.splitlines()

    return ask


@pytest.fixture
def archive(make_archive) -> Path:
    return make_archive(gpu_activities=[activity(), activity(rank=1, dur_ns=7)])


@needs_shell
def test_queries_work(ask, archive, use_library):
    assert ask(archive, "FROM total_time();") == ["job,rank,sum_ns", "job,0,10", "job,1,7"]
    assert ask(archive, "FROM total_time_v1(only_ranks := [1]);") == [
        "job,rank,total_ns",
        "job,1,7",
    ]


@needs_shell
def test_without_us_from_inside_the_archive(archive, use_library):
    write_database(archive)
    done = subprocess.run(
        [shell.shell_program(), "hta.duckdb", "-csv", "-c", "FROM total_time()"],
        cwd=archive,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["job,rank,sum_ns", "job,0,10", "job,1,7"]


class Terminal:
    """A process at the other end of a terminal."""

    def __init__(self, *command: str):
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.execv(command[0], command)

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def read_until(self, text: str, seconds: float = 30) -> str:
        seen = b""
        until = time.monotonic() + seconds
        while text.encode() not in seen and time.monotonic() < until:
            if not select.select([self.end], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.end, 65536)
            except OSError:  # it has ended
                break
            # It asks what kind of terminal this is, and where its cursor stands.
            for question, answer in ((b"\x1b[c", "\x1b[?1;2c"), (b"\x1b[6n", "\x1b[1;1R")):
                if question in data:
                    self.type(answer)
            seen += data
        return seen.decode(errors="replace")

    def close(self) -> None:
        os.close(self.end)  # which hangs up
        os.waitpid(self.pid, 0)


@needs_shell
def test_interrupt_ends_the_query_not_the_shell(archive, use_library):
    write_database(archive)
    code = (
        "import sys; from hta_sql.database.shell import run_shell; sys.exit(run_shell(sys.argv[1]))"
    )
    terminal = Terminal(sys.executable, "-c", code, str(archive))
    try:
        assert "hta" in terminal.read_until(" D ")
        terminal.type(
            "SELECT count(*) FROM range(10000000000) a, range(100) b "
            "WHERE a.range * b.range % 7 = 3;\r"
        )
        terminal.read_until("\n")
        time.sleep(1)  # nothing tells that the query has begun
        terminal.type("\x03")
        assert "Traceback" not in terminal.read_until(" D ")
        terminal.type("SELECT 'still' || 'here' AS a;\r")
        assert "stillhere" in terminal.read_until("stillhere")
    finally:
        terminal.close()


@needs_shell
def test_every_query_of_the_catalogue_works(ask, archive):
    calls = [
        f"SELECT count(*) FROM {query.macro}();"
        for query in Catalog.load().queries
        if not query.required
    ]
    assert len(ask(archive, *calls)) == 2 * len(calls)


@needs_shell
def test_from_anywhere_and_after_a_move(ask, archive, monkeypatch, use_library):
    ask(archive, "SELECT 1;")
    moved = archive.rename(archive.with_name("it's moved"))
    for folder, path in (("/", moved), (moved, Path(".")), (moved.parent, Path(moved.name))):
        monkeypatch.chdir(folder)
        assert ask(path, "FROM total_time();")[1:] == ["job,0,10", "job,1,7"]


@needs_shell
def test_the_catalogue_is_in_the_database(ask, archive, use_library):
    assert ask(archive, "SELECT name, version, theme, parameters FROM hta_queries;")[1:] == [
        'total_time,1,gpu,"only_ranks INTEGER[] := NULL, min_dur_ns BIGINT := 0"',
        'total_time,2,gpu,"only_ranks INTEGER[] := NULL, min_dur_ns BIGINT := 0"',
        'named,1,host,"name_contains VARCHAR, short_names BOOLEAN := false, '
        'over_frac DOUBLE := 0.5"',
    ]
    assert ask(
        archive,
        "SELECT function_name, comment FROM duckdb_functions() WHERE function_name = 'total_time';",
    )[1:] == ["""total_time,"How long each rank's kernels ran.\""""]
    assert ask(
        archive,
        "SELECT view_name FROM duckdb_views() WHERE comment LIKE 'Every event of every trace%';",
    )[1:] == ["events"]
    assert ask(
        archive,
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'events' "
        "AND column_name = 'event_id';",
    )[1:] == ['"0-based position in traceEvents, all phases counted"']
    # Also of a view that is made anew, as its table has files; and the inner ones say nothing.
    assert ask(
        archive,
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'traces' "
        "AND column_name = 'start_ns';",
    )[1:] == ['"first span\'s start"']
    assert ask(
        archive,
        "SELECT count(comment) FROM duckdb_views() "
        "WHERE view_name IN ('events_by_rank', 'gpu_activities_by_rank');",
    )[1:] == ["0"]


@needs_shell
def test_ctes_stay_materialized(ask, archive):
    """As the queries are written: it decides how they are done."""
    query = Catalog.load().find("collectives")
    written = query.sql.count(" AS MATERIALIZED (")
    [told] = ask(
        archive,
        "SELECT len(regexp_extract_all(macro_definition, ' AS MATERIALIZED ')) "
        f"FROM duckdb_functions() WHERE function_name = '{query.macro}';",
    )[1:]
    assert int(told) == written > 0


@needs_shell
def test_status_and_errors_are_the_shells(archive, capfd, use_library):
    result = CliRunner().invoke(cli, ["shell", str(archive), "-c", "FROM nowhere"])
    assert result.exit_code == 1
    assert "nowhere does not exist" in capfd.readouterr().err


@needs_shell
def test_nothing_can_be_written(archive, capfd, use_library):
    assert run_shell(archive, ["CREATE TABLE t (a INTEGER)"]) == 1
    assert "read-only" in capfd.readouterr().err


@needs_shell
@pytest.mark.parametrize("left", [None, b"", b"not a database"])
def test_the_database_of_the_archive_is_left_alone(ask, archive, use_library, left):
    """It may be of another version, damaged, or a stranger's."""
    file = archive / "hta.duckdb"
    if left is not None:
        file.write_bytes(left)
    archive.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert ask(archive, "FROM total_time();")[1:] == ["job,0,10", "job,1,7"]
    finally:
        archive.chmod(stat.S_IRWXU)
    assert (file.read_bytes() if file.exists() else None) == left


def test_database_is_written_whole_or_not_at_all(archive, use_library):
    write_database(archive)
    archive.chmod(stat.S_IRUSR | stat.S_IXUSR)
    write_database_again = None
    try:
        write_database(archive)
    except OSError as error:
        write_database_again = error
    finally:
        archive.chmod(stat.S_IRWXU)
    names = {path.name for path in archive.iterdir()}
    assert names == {"gpu_activities", "traces.parquet", "hta.duckdb", ".hta.duckdb.sha256"}, (
        write_database_again
    )
    with closing(duckdb.connect(str(archive / "hta.duckdb"), read_only=True)) as con:
        assert con.execute("SELECT count(*) FROM hta_queries").fetchone() == (3,)


def test_without_a_shell(archive, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(HtaSqlError, match=r"pip install 'hta-sql\[shell\]'"):
        run_shell(archive)
