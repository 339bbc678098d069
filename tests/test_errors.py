"""Bad input gets one clear line on stderr and the right exit status, never a traceback."""

import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hta_sql.cli import cli
from hta_sql.errors import one_line

pytestmark = pytest.mark.usefixtures("use_library")


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        # Usage: 2.
        (
            "run total_tim {archive}",
            2,
            "Error: no query 'total_tim'; did you mean 'total_time'? (hta-sql list shows all 2)",
        ),
        ("show zzz", 2, "Error: no query 'zzz' (hta-sql list shows all 2)"),
        (
            "run quarantine {archive}",
            2,
            "Error: no query 'quarantine'; it is a table: hta-sql sql ARCHIVE 'FROM quarantine' "
            "(hta-sql list shows all 2)",
        ),
        (
            "show total_time --version 9",
            2,
            "Error: no version 9 of total_time; its versions are 1, 2",
        ),
        ("run total_time", 2, "Error: Missing argument 'ARCHIVE...'."),
        ("run total_time {archive} --only-rank x", 2, "Error: No such option '--only-rank'"),
        (
            "run total_time {archive} --only-ranks 0,x",
            2,
            "Error: Invalid value for '--only-ranks': 'x' is not a valid integer.",
        ),
        (
            "run total_time {archive} --only-ranks 3000000000",
            2,
            "Error: total_time: only_ranks is INTEGER[], not [3000000000]",
        ),
        ("run named {archive}", 2, "Error: Missing option '--name-contains'."),
        ("run total_time {archive} --format xml", 2, "Error: Invalid value for '--format'"),
        (
            "ingest traces {archive} --rank 3",
            2,
            "Error: Invalid value for --rank: '3' is not N=FILE",
        ),
        (
            "run total_time {archive} --only-ranks=",
            2,
            "Error: Invalid value for '--only-ranks': '' is not a valid integer.",
        ),
        ("sql {archive}", 2, "Error: Missing ARCHIVE or SQL: hta-sql sql ARCHIVE... SQL"),
        (
            "demo out --straggler 4",
            2,
            "Error: Invalid value for --straggler: there are ranks 0 to 3",
        ),
        (
            "demo out --straggler x",
            2,
            "Error: Invalid value for --straggler: 'x' is neither a rank",
        ),
        ("total_time {archive}", 2, "Error: total_time is a query: hta-sql run total_time ARCHIVE"),
        ("nonsense", 2, "Error: No such command 'nonsense'"),
        # What a query refuses by SQL's error().
        (
            "sql {archive} SELECT|error('total_time:|top_k|is|1|or|2,|not|3')|FROM|events",
            2,
            "Error: total_time: top_k is 1 or 2, not 3",
        ),
        # Archives, data and SQL: 1.
        (
            "run total_time missing",
            1,
            "Error: missing: no such folder; `hta-sql ingest TRACES ARCHIVE` makes one",
        ),
        (
            "run total_time {archive}/traces.parquet",
            1,
            "traces.parquet: not an archive, since it is a file",
        ),
        ("check missing", 1, "Error: missing: no such folder"),
        ("shell missing", 1, "Error: missing: no such folder"),
        ("sql {archive} SELEC", 1, 'Error: Parser Error: syntax error at or near "SELEC"'),
        ("sql {archive} FROM|nowhere", 1, "Error: no table 'nowhere'; the tables are attachments"),
        ("sql {archive} SELECT|error('mine')|FROM|events", 1, "Error: Invalid Input Error: mine"),
        (
            "run total_time {archive} -o missing/x.csv",
            1,
            "Error: missing/x.csv: No such file or directory",
        ),
        ("run total_time {archive} -o x.doc", 1, "Error: x.doc: unknown format; give --format"),
    ],
)
def test_one_line(tiny_archive, line, status, says):
    words = [w.replace("|", " ") for w in line.format(archive=tiny_archive).split()]
    result = CliRunner().invoke(cli, words, prog_name="hta-sql")
    assert (result.exit_code, result.stdout) == (status, "")
    assert says in result.stderr
    error = [text for text in result.stderr.splitlines() if text.startswith("Error: ")]
    assert len(error) == 1 and result.stderr.rstrip().endswith(error[0])
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.txt"])
def test_a_query_that_fails_on_its_way_leaves_no_file(tiny_archive, tmp_path, name):
    late = "SELECT if(range = 1000000, error('late'), 1) AS a FROM range(2000000)"
    words = ["sql", str(tiny_archive), late, "-o", str(tmp_path / name)]
    result = CliRunner().invoke(cli, words)
    assert (result.exit_code, result.stderr) == (1, "Error: Invalid Input Error: late\n")
    assert not (tmp_path / name).exists()


def test_debug_shows_the_traceback(tiny_archive):
    result = CliRunner().invoke(cli, ["--debug", "sql", str(tiny_archive), "SELEC"])
    assert result.exit_code == 1
    assert type(result.exception).__name__ == "HtaSqlError"
    assert type(result.exception.__cause__).__name__ == "ParserException"


def test_our_own_bugs_are_not_dressed_up(tiny_archive, monkeypatch):
    monkeypatch.setattr("hta_sql.show.tables.humane", lambda name, value: 1 / 0)
    result = CliRunner().invoke(cli, ["run", "total_time", str(tiny_archive)])
    assert isinstance(result.exception, ZeroDivisionError), result.output


def hta_sql(*words: str, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "hta_sql.cli", *words], text=True, stderr=subprocess.PIPE, **options
    )


def test_a_closed_pipe_is_quiet(tiny_archive):
    for form in ("csv", "json", "arrow", "table"):
        read, write = os.pipe()
        with hta_sql(
            "sql",
            str(tiny_archive),
            "SELECT range AS n FROM range(100000)",
            "--format",
            form,
            stdout=write,
        ) as process:
            os.close(write)
            os.read(read, 10)
            os.close(read)
            assert process.communicate()[1] == "", form


def test_interrupt(tiny_archive):
    # The first rows tell that the query is running; it would be for days.
    endless = "SELECT range AS n FROM range(1000000000000)"
    with hta_sql(
        "sql", str(tiny_archive), endless, "--format", "csv", stdout=subprocess.PIPE
    ) as process:
        process.stdout.read(1000)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[1].strip() == "Interrupted"
    assert process.returncode == 130


def test_library_texts_become_one_line():
    text = "Parser Error: syntax\nerror\n\nLINE 1: SELEC 1\n        ^"
    assert one_line(ValueError(text)) == "Parser Error: syntax error"
    assert one_line(ValueError("a" * 500), at_most=10) == "aaaaaaaaa…"
