"""Results as data frames of pandas and polars: integers of nanoseconds stay exact."""

import pyarrow
import pytest

import hta_sql

# A Unix time in nanoseconds, which a float of 64 bits would round.
START = 1_712_151_111_631_234_567
SQL = f"SELECT 'gemm' AS name, {START} AS start_ns, 0.25 AS busy_frac UNION ALL SELECT 'x', 7, NULL"


@pytest.fixture
def table(demo_archive):
    with hta_sql.open(demo_archive) as run:
        yield run.sql(SQL)


def test_polars(table):
    polars = pytest.importorskip("polars", reason="no polars")
    frame = polars.DataFrame(table)
    assert frame.rows() == [("gemm", START, 0.25), ("x", 7, None)]
    assert frame.schema["start_ns"] == polars.Int64


def test_pandas(table):
    pandas = pytest.importorskip("pandas", reason="no pandas")
    frame = table.to_pandas()
    assert frame["start_ns"].tolist() == [START, 7] and frame["start_ns"].dtype == "int64"
    assert frame["busy_frac"].isna().tolist() == [False, True]

    with_null = pyarrow.table({"start_ns": pyarrow.array([START, None], "int64")})
    rounded = with_null.to_pandas()["start_ns"]
    assert rounded.dtype == "float64" and int(rounded[0]) == round(START / 256) * 256 != START
    exact = with_null.to_pandas(types_mapper=pandas.ArrowDtype)["start_ns"]
    assert exact[0] == START and exact.isna().tolist() == [False, True]
