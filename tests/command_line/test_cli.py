"""The command line: its commands and options."""

import csv
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hand_written import without_checksums

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.demo import write_job

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["list"], ["run", "--help"]])
def test_start_is_light(words):
    program = (
        "import sys; from hta_sql.cli import cli; cli(sys.argv[1:], standalone_mode=False); "
        "print(sorted({'duckdb', 'pyarrow', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert result.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["sql", "{archive}", "SELECT 42 AS answer"], 0, 0),
        (["run", "temporal_breakdown", "{archive}"], 0, 0),
        (["sql", "{archive}", "SELECT answer"], 1, 1),
    ],
)
def test_a_process_says_no_more_at_its_end(tiny_archive, words, status, said):
    """Neither does DuckDB, which tells of what of it is left then."""
    words = [word.format(archive=tiny_archive) for word in words]
    result = subprocess.run(
        [sys.executable, "-m", "hta_sql.cli", *words], capture_output=True, text=True
    )
    assert (result.returncode, len(result.stderr.splitlines())) == (status, said), result.stderr


def test_version():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert hta_sql.__version__ == project["version"]
    result = CliRunner().invoke(cli, ["--version"])
    assert result.output == f"hta-sql, version {hta_sql.__version__}\n"


def test_list(invoke):
    assert invoke("list").stdout == (
        "gpu\n"
        "  total_time  How long each rank's kernels ran.\n"
        "\n"
        "host\n"
        "  named       Activities by name.\n"
        "\n"
        "To see what a query does: hta-sql run QUERY --help\n"
        "To run a query: hta-sql run QUERY ARCHIVE\n"
    )


def test_show_prints_the_file(invoke, library):
    file = library / "queries/gpu/total_time.v"
    assert invoke("show", "total_time").stdout == Path(f"{file}2.sql").read_text()
    assert invoke("show", "total_time", "--version", 1).stdout == Path(f"{file}1.sql").read_text()


def test_catalog(invoke):
    first = json.loads(invoke("catalog", "--json").stdout)[0]
    assert first["name"] == "total_time" and first["version"] == 1 and first["theme"] == "gpu"
    assert first["grain"] == ["job", "rank"] and first["checks"] == ["total_ns >= 0"]
    assert first["parameters"][1] == {
        "name": "min_dur_ns",
        "type": "BIGINT",
        "default": "0",
        "shown_default": "0",
        "text": "ns; shorter ones are left out",
    }
    assert first["columns"][2] == {
        "name": "total_ns",
        "type": "BIGINT",
        "unit": "ns",
        "text": "sum of durations",
    }


def test_help_of_a_query(invoke):
    shown = invoke("run", "total_time", "--help").stdout
    assert "      a  [====)\n      b    [====)   both\n" in shown
    text = " ".join(shown.split())
    assert "How long each rank's kernels ran. Overlaps count twice." in text
    assert "--only-ranks INTEGER,... ranks to report [default: all]" in text
    assert "--min-dur-ns INTEGER ns; shorter ones are left out [default: 0]" in text
    assert "--short-names / --no-short-names" in invoke("run", "named", "--help").stdout
    assert "total_time" in invoke("run", "--help").stdout


def rows(result) -> list[dict]:
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("options", "ranks"),
    [
        ([], [0, 1]),
        (["--only-ranks", "1"], [1]),
        (["--only-ranks", "0, 1"], [0, 1]),
        (["--only-ranks", "0", "--only-ranks", "1"], [0, 1]),
        (["--min-dur-ns", "31"], []),
    ],
)
def test_options(invoke, tiny_archive, options, ranks):
    found = rows(invoke("run", "total_time", tiny_archive, "--format", "json", *options))
    assert [row["rank"] for row in found] == ranks


def test_flags_and_other_types(invoke, tiny_archive):
    result = invoke(
        "run",
        "named",
        tiny_archive,
        "--name-contains",
        "gemm",
        "--short-names",
        "--over-frac",
        0.25,
        "--format",
        "json",
    )
    assert len(rows(result)) == 8  # every made-up activity has that short name
    assert result.stderr == "Warning: named_v1: use another, leaves in 9.9\n"
    assert (
        len(
            rows(
                invoke(
                    "run",
                    "named",
                    tiny_archive,
                    "--name-contains",
                    "gemm",
                    "--no-short-names",
                    "--format",
                    "json",
                )
            )
        )
        == 2
    )


def test_version_of_a_query(invoke, tiny_archive):
    found = rows(invoke("run", "total_time", tiny_archive, "--version", 1, "--format", "json"))
    assert set(found[0]) == {"job", "rank", "total_ns"}


def test_several_archives(invoke, make_archive, tiny_archive):
    other = make_archive(gpu_activities=[{"job": "other", "dur_ns": 1}])
    found = rows(invoke("run", "total_time", tiny_archive, other, "--format", "json"))
    assert [row["job"] for row in found] == ["job", "job", "other"]
    count = rows(
        invoke(
            "sql",
            tiny_archive,
            other,
            "SELECT count(*) AS n FROM gpu_activities",
            "--format",
            "json",
        )
    )
    assert count == [{"n": 9}]


def test_sql_from_stdin(invoke, tiny_archive):
    result = invoke("sql", tiny_archive, "-", "--format", "csv", input="SELECT 1 AS a, 'x' AS b")
    assert list(csv.reader(io.StringIO(result.stdout))) == [["a", "b"], ["1", "x"]]


def test_check(invoke, tiny_archive):
    result = invoke("check", tiny_archive)
    assert result.stdout == "2 of 2 queries keep their promises; 1 not checked\n"
    assert result.stderr.splitlines() == [
        "named_v1: not checked, because it needs name_contains",
        "the contents of files were not compared with their checksums; --deep does that",
    ]


@pytest.mark.queries
def test_check_finds_what_is_missing(tmp_path):
    write_job(tmp_path / "t", ranks=2, steps=1, layers=1)
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert CliRunner().invoke(cli, ["check", str(tmp_path / "a")]).exit_code == 0
    [file] = (tmp_path / "a/gpu_activities/job=t/rank=1").iterdir()
    file.unlink()
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "a")])
    assert result.exit_code == 1
    [line] = result.stdout.splitlines()
    assert f"gpu_activities/job=t/rank=1/{file.name} is gone; it is of job 't'" in line


@pytest.mark.queries
def test_check_counts_the_rows_of_older_archives(tmp_path):
    """An archive of an earlier version does not list its files, only how many rows they hold."""
    write_job(tmp_path / "t", ranks=2, steps=1, layers=1)
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    [file] = (tmp_path / "a/gpu_activities/job=t/rank=1").iterdir()
    rows = pq.read_metadata(file).num_rows
    file.unlink()
    manifest = pq.read_table(tmp_path / "a/traces.parquet")
    older = without_checksums(tmp_path / "a", manifest.to_pylist())
    pq.write_table(pa.Table.from_pylist(older, manifest.schema), tmp_path / "a/traces.parquet")
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "a")])
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == (
        f"job t rank 1: gpu_activities holds 0 of {rows:,} rows; ingest it again with --force"
    )


def test_sql_that_begins_with_a_comment(invoke, tiny_archive):
    text = invoke("sql", tiny_archive, "-- how many\nSELECT 1 AS a", "--format", "csv").stdout
    assert text == '"a"\n1\n'


def test_check_fails(tiny_archive, library, monkeypatch):
    file = library / "queries/gpu/total_time.v1.sql"
    file.write_text(file.read_text().replace("total_ns >= 0", "total_ns > 65"))
    catalog = Catalog.read(library)
    monkeypatch.setattr(Catalog, "load", staticmethod(lambda: catalog))
    result = CliRunner().invoke(cli, ["check", str(tiny_archive)])
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "total_time_v1: 1 of 2 rows fail 'total_ns > 65', first at job job, rank 0",
        "1 of 2 queries keep their promises; 1 not checked",
    ]
