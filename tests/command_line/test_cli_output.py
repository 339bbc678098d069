"""The command line: values and the files that it writes."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hta_sql.cli import cli

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
    assert (tmp_path / "x.txt").read_text().startswith("job  rank    sum\n")


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
