"""The command line: what it prints, where and in which form."""

import csv
import io
import json
import math
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.show.output import humane, table_lines

PROJECT = Path(__file__).parent.parent


@pytest.fixture
def invoke(use_library):
    """Run a command that succeeds; invoke("list").stdout."""

    def invoke(*words, **options):
        result = CliRunner().invoke(cli, [str(w) for w in words], prog_name="hta-sql", **options)
        assert result.exit_code == 0, result.stderr or result.exception
        return result

    return invoke


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
    assert "--only-ranks INTEGER,... ranks to report; NULL means all" in text
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
        (["--only-ranks", "7"], []),
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
    assert result.stdout == "2 of 2 queries keep their promises\n"
    assert result.stderr == "named_v1: not checked, it needs name_contains\n"


def test_check_finds_what_is_missing(tmp_path):
    write_job(tmp_path / "t", ranks=2, steps=1, layers=1)
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert CliRunner().invoke(cli, ["check", str(tmp_path / "a")]).exit_code == 0
    [file] = (tmp_path / "a/gpu_activities/job=t/rank=1").iterdir()
    rows = pq.read_metadata(file).num_rows
    file.unlink()
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
        "1 of 2 queries keep their promises",
    ]


EVERY_TYPE = """
SELECT
    9007199254740993::BIGINT AS id,
    18446744073709551615::UBIGINT AS comms_id,
    sum(2::BIGINT) AS huge,
    NULL::BIGINT AS nothing,
    'NaN'::DOUBLE AS odd,
    0.25 AS decimal,
    'a,"b' AS text,
    [1, NULL] AS list,
    {'x': 1} AS struct,
    true AS yes,
    TIMESTAMP '2024-01-02 03:04:05' AS at,
    '\\xFF'::BLOB AS bytes
"""


def test_json(invoke, tiny_archive):
    text = invoke("sql", tiny_archive, EVERY_TYPE, "--format", "json").stdout
    assert json.loads(text) == [
        {
            "id": 9007199254740993,
            "comms_id": 18446744073709551615,
            "huge": 2,
            "nothing": None,
            "odd": None,
            "decimal": 0.25,
            "text": 'a,"b',
            "list": [1, None],
            "struct": {"x": 1},
            "yes": True,
            "at": "2024-01-02 03:04:05",
            "bytes": "ff",
        }
    ]
    assert '"huge":2,' in text
    assert invoke("sql", tiny_archive, "FROM events LIMIT 0", "--format", "json").stdout == "[]\n"
    two = invoke("sql", tiny_archive, "SELECT range AS n FROM range(2)", "--format", "json").stdout
    assert two == '[\n{"n":0},\n{"n":1}\n]\n'


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("TIMESTAMP_NS '2024-01-01 00:00:00.000000001'", "2024-01-01 00:00:00.000000001"),
        ("TIME_NS '01:02:03.123456789'", "01:02:03.123456789"),
        ("INTERVAL 1 DAY", "1 day"),
        ("'infinity'::TIMESTAMP", "infinity"),
        ("'101'::BIT", "101"),
        ("[TIMESTAMP_NS '2024-01-01 00:00:00.000000001']", "['2024-01-01 00:00:00.000000001']"),
    ],
)
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_what_only_duckdb_can_print(invoke, tiny_archive, value, printed, form):
    text = invoke("sql", tiny_archive, f"SELECT {value} AS a, 1 AS a_ns", "--format", form).stdout
    assert printed in text


def test_large_integers_stay_integers(invoke, tiny_archive):
    query = "SELECT 1180591620717411303425::HUGEINT AS n"
    assert (
        '"n":1180591620717411303425'
        in invoke("sql", tiny_archive, query, "--format", "json").stdout
    )


def test_sums_are_humane(invoke, tiny_archive):
    query = "SELECT sum(dur_ns * 1000000) AS total_ns FROM events"
    text = invoke("sql", tiny_archive, query).stdout
    assert text.splitlines()[1].strip() == "131 ms"


def test_one_name_for_two_columns(tiny_archive):
    result = CliRunner().invoke(
        cli, ["sql", str(tiny_archive), "SELECT 1 AS a, 2 AS a", "--format", "json"]
    )
    assert result.exit_code == 1 and "two columns are named 'a'" in result.stderr


def test_csv(invoke, tiny_archive):
    text = invoke("sql", tiny_archive, EVERY_TYPE, "--format", "csv").stdout
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["id"] == "9007199254740993" and row["comms_id"] == "18446744073709551615"
    assert (row["nothing"], row["text"], row["list"], row["yes"]) == (
        "",
        'a,"b',
        "[1,null]",
        "true",
    )
    assert (row["struct"], row["bytes"]) == ('{"x":1}', "ff")


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("x.parquet", pq.read_table),
        ("x.arrow", pyarrow.feather.read_table),
        ("x.csv", lambda path: pa.csv.read_csv(path)),
        ("x.json", lambda path: pa.Table.from_pylist(json.loads(path.read_text()))),
    ],
)
def test_output_file(invoke, tiny_archive, tmp_path, name, read):
    file = tmp_path / name
    result = invoke("run", "total_time", tiny_archive, "-o", file)
    assert result.stdout == ""
    assert read(file).to_pydict() == {"job": ["job", "job"], "rank": [0, 1], "sum_ns": [65, 66]}


def test_format_wins_over_the_files_name(invoke, tiny_archive, tmp_path):
    invoke("run", "total_time", tiny_archive, "-o", tmp_path / "x.txt", "--format", "json")
    assert json.loads((tmp_path / "x.txt").read_text())[0]["sum_ns"] == 65
    invoke("run", "total_time", tiny_archive, "-o", tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text().startswith("job  rank  sum_ns\n")


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("arrow", lambda data: pa.ipc.open_stream(data).read_all()),
        ("parquet", lambda data: pq.read_table(io.BytesIO(data))),
    ],
)
def test_binary_in_a_pipe(invoke, tiny_archive, form, read):
    data = invoke("run", "total_time", tiny_archive, "--format", form).stdout_bytes
    assert read(data)["sum_ns"].to_pylist() == [65, 66]


@pytest.fixture
def terminal(monkeypatch):
    """Make stdout a terminal of 60 columns."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_binary_is_not_for_terminals(tiny_archive, use_library, terminal, form):
    words = ["run", "total_time", str(tiny_archive), "--format", form]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {form} is not for terminals: add -o FILE, or pipe it on\n"


def test_table_on_a_terminal(invoke, tiny_archive, terminal):
    long = "SELECT repeat('abc', 40) || range AS name, range AS n_count FROM range(1000)"
    result = invoke("sql", tiny_archive, long)
    lines = result.stdout.splitlines()
    assert len(lines) == 51
    assert lines[1].startswith("abcabc") and "…" in lines[1]
    assert {len(line) for line in lines[1:]} == {60}
    assert result.stderr == ("the first 50 of 1,000 rows; -o FILE or --format csv gives all\n")


def test_a_table_too_wide_for_the_terminal_is_turned(invoke, tiny_archive, terminal):
    wide = "SELECT 0 AS rank, 'job' AS job, " + ", ".join(
        f"{i} AS some_figure_{i}_ns" for i in range(10, 15)
    )
    lines = invoke("sql", tiny_archive, wide).stdout.splitlines()
    assert lines[:3] == [
        "rank                   0",
        "job                  job",
        "some_figure_10_ns  10 ns",
    ]
    many = invoke("sql", tiny_archive, f"{wide} FROM range(20)").stdout.splitlines()
    assert len(many) == 21 and len(many[0]) > 60


def test_table_in_a_pipe_is_whole(invoke, tiny_archive):
    long = "SELECT repeat('abc', 100) AS name FROM range(1000)"
    lines = invoke("sql", tiny_archive, long).stdout.splitlines()
    assert len(lines) == 1001 and set(lines[1:]) == {"abc" * 100}


def test_table_is_aligned():
    assert table_lines(
        ["name", "rank", "busy_ns", "busy_frac"],
        [("gemm", 0, 1_240_000, 0.371), ("a\nb", 10, None, None)],
    ) == [
        "name  rank  busy_ns  busy_frac",
        "gemm     0  1.24 ms     37.1 %",
        "a b     10        -          -",
    ]
    assert table_lines(["a", "b"], []) == ["a  b"]


def test_equal_values_of_a_table_that_look_different():
    """Equal ones are formatted once, but for these."""
    assert table_lines(["v", "u"], [(0.0, 1), (-0.0, True), (0.0, 1), (-0.0, True)] * 2) == [
        " v     u",
        *[" 0     1", "-0  True"] * 4,
    ]
    assert table_lines(["n", "t"], [(7, "a"), (None, "bc"), (8, None)] * 3) == [
        "n  t",
        *["7  a", "-  bc", "8  -"] * 3,
    ]
    assert table_lines(["l"], [([1, 2],), ([1, 2],)]) == ["     l", "[1, 2]", "[1, 2]"]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("dur_ns", 0, "0 ns"),
        ("dur_ns", 999, "999 ns"),
        ("dur_ns", 1000, "1.00 µs"),
        ("dur_ns", 999_499, "999 µs"),
        ("dur_ns", 999_501, "1.00 ms"),
        ("mean_ns", 12_345_678.9, "12.3 ms"),
        ("diff_ns", -12_345_678, "-12.3 ms"),
        ("dur_ns", 90_000_000_000, "1.50 min"),
        ("dur_ns", 5 * 10**15, "1,389 h"),
        ("start_ns", 1712151111631234567, "2024-04-03 13:31:51.631234567"),
        ("launch_end_ns", 1_000_000_001, "1.000000001 s"),
        ("at_ns", -1, "-0.000000001 s"),
        ("bytes", 999, "999 B"),
        ("moved_bytes", 1_500_000_000, "1.50 GB"),
        ("flops", 4_947_802_324_992, "4.95 TFLOP"),
        ("recomputed_flops", 0, "0 FLOP"),
        ("busy_frac", 1.0, "100.0 %"),
        ("busbw_gbps", 123.456, "123.5 GB/s"),
        ("kernel_count", 1234567, "1,234,567"),
        ("count", 1234567, "1,234,567"),
        ("event_id", 1234567, "1234567"),
        ("imbalance", 1.23456, "1.235"),
        ("odd_ns", math.nan, "nan"),
        ("is_short", True, "True"),
        ("grid", [1, 2], "[1, 2]"),
        ("anything", None, "-"),
    ],
)
def test_units_for_people(name, value, text):
    assert humane(name, value) == text


def test_ingest(tmp_path):
    from hta_sql.demo import write_job

    write_job(tmp_path / "traces", ranks=2, steps=1, layers=1)
    (tmp_path / "odd.json").write_text("{}")
    words = ["ingest", str(tmp_path / "traces"), str(tmp_path / "archive"), "--job", "mine"]
    result = CliRunner().invoke(cli, [*words, "--workers", "1"])
    assert (result.exit_code, result.stdout) == (0, "")
    lines = [re.sub(r"[\d.,]+ (events|s\b)", r"N \1", line) for line in result.stderr.splitlines()]
    assert sorted(lines[-3:-1]) == [
        "mine rank 0: ingested, N events, N s",
        "mine rank 1: ingested, N events, N s",
    ]
    assert lines[-1] == "2 traces: 2 ingested; N s"
    result = CliRunner().invoke(cli, [*words[:2], str(tmp_path / "odd.json"), *words[2:]])
    assert result.exit_code == 1
    assert "odd.json: failed: " in result.stderr
    assert "3 traces: " in result.stderr and "1 failed, 2 unchanged" in result.stderr


def test_demo(tmp_path, monkeypatch):
    from hta_sql import demo

    seen = {}

    def write_job(out, **options):
        seen.update(options, out=out)
        return ["one"]

    monkeypatch.setattr(demo, "write_job", write_job, raising=False)
    for words, straggler in (([], -1), (["--straggler", "none"], None), (["--straggler", "2"], 2)):
        result = CliRunner().invoke(cli, ["demo", str(tmp_path), "--ranks", "3", *words])
        assert result.exit_code == 0, result.output
        assert seen == {
            "out": tmp_path,
            "ranks": 3,
            "steps": 3,
            "layers": 4,
            "seed": 0,
            "scale": 1,
            "time_format": "based",
            "collective_ids": "comms_id",
            "straggler": straggler,
            "bottleneck": None,
            "change": None,
            "gzip": True,
        }
