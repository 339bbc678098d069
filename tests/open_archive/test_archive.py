"""An open archive: its queries and SQL."""

import inspect
import os
import re

import pyarrow as pa
import pytest

from hta_sql import HtaSqlError
from hta_sql.archive import Archive
from hta_sql.errors import BadParameter, UnknownQuery

pytestmark = pytest.mark.usefixtures("use_library")


def test_query_is_a_method(run):
    result = run.total_time()
    assert isinstance(result, pa.Table)
    assert result.schema == pa.schema(
        [("job", pa.string()), ("rank", pa.int32()), ("sum_ns", pa.int64())]
    )
    assert result.to_pylist() == [
        {"job": "job", "rank": 0, "sum_ns": 65},
        {"job": "job", "rank": 1, "sum_ns": 66},
    ]


@pytest.mark.parametrize("ranks", [1, [1], (1,), range(1, 2), {1}])
def test_parameters_are_bound(run, ranks):
    assert run.total_time(only_ranks=ranks)["rank"].to_pylist() == [1]


def test_version_can_be_pinned(run):
    assert run.query("total_time", 1).column_names == ["job", "rank", "total_ns"]
    assert run.query("total_time", version=1, min_dur_ns=30)["total_ns"].to_pylist() == [30, 30]


def test_method_tells_its_signature_and_header(run):
    method = run.total_time
    assert str(inspect.signature(method)).startswith(
        "(*, only_ranks: INTEGER[] = NULL, min_dur_ns: BIGINT = 0)"
    )
    assert method.__name__ == "total_time"
    assert method.__doc__.startswith("How long each rank's kernels ran.\n\nOverlaps count twice.")
    assert "only_ranks (INTEGER[]): ranks to report [default: all]" in method.__doc__
    assert "sum_ns  BIGINT, sum of durations" in method.__doc__
    assert {"total_time", "named", "query", "sql"} <= set(dir(run))


def test_signature_with_a_required_parameter(run):
    parameter = inspect.signature(run.named).parameters["name_contains"]
    assert parameter.default is inspect.Parameter.empty


def test_deprecated_query_warns(run):
    with pytest.warns(FutureWarning, match="^named_v1: use another, leaves in 9.9$"):
        result = run.named(name_contains="relu")
    assert result["event_id"].to_pylist() == [4, 4]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda run: run.total_tim(),
            UnknownQuery,
            "no query 'total_tim'; did you mean 'total_time'?",
        ),
        (lambda run: run.query("total_time", 9), UnknownQuery, "no version 9 of total_time"),
        (lambda run: run.total_time(rank=1), BadParameter, "total_time has no parameter 'rank'"),
        (
            lambda run: run.total_time([1]),
            BadParameter,
            "takes parameters only by name: (*, only_ranks",
        ),
        (lambda run: run.total_time(min_dur_ns="x"), BadParameter, "min_dur_ns is BIGINT, not 'x'"),
    ],
)
def test_wrong_calls(run, call, error, says):
    with pytest.raises(error, match=re.escape(says)):
        call(run)


def test_missing_method_is_an_attribute_error(run):
    assert not hasattr(run, "nothing")
    assert not hasattr(run, "_repr_mimebundle_")


def test_sql(run):
    assert run.sql("SELECT count(*) AS n FROM events").to_pylist() == [{"n": 8}]
    assert run.sql("FROM total_time(only_ranks := $r)", {"r": [0]}).num_rows == 1
    assert run.sql("SELECT ? + ?", [1, 2]).to_pydict() == {"($1 + $2)": [3]}
    assert run.sql("FROM hta_queries")["name"].to_pylist() == ["total_time", "total_time", "named"]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("FROM event", "no table 'event'; did you mean events? the tables are attachments, bus"),
        ("FROM zzz", "no table 'zzz'; the tables are attachments, bus"),
        ("FROM total_tim()", "no table 'total_tim'; did you mean total_time()? the tables are"),
        ("FROM total_time", "total_time is a query; write FROM total_time()"),
        ("FROM events()", "events is a table, not a query; write FROM events"),
        ("SELEC 1", 'Parser Error: syntax error at or near "SELEC"'),
        ("SELECT nam FROM events", 'Binder Error: Referenced column "nam" not found'),
        ("SELECT error('mine') FROM events", "mine"),
        ("", "the SQL has no statement that returns rows"),
    ],
)
def test_wrong_sql(run, sql, says):
    with pytest.raises(HtaSqlError) as error:
        run.sql(sql)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_con_has_everything_even_after_a_query(run):
    run.total_time()
    assert run.con.sql("FROM total_time_v1()").fetchall() == [("job", 0, 65), ("job", 1, 66)]
    assert run.con is run.con


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_no_more_threads_than_cores_it_may_use(tiny_archive):
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with Archive(tiny_archive) as run:
            found = run.sql("SELECT current_setting('threads') AS threads").to_pylist()
    finally:
        os.sched_setaffinity(0, allowed)
    assert found == [{"threads": 1}]


def test_empty_archive(make_archive):
    with Archive(make_archive()) as run:
        assert run.total_time().num_rows == 0
        assert run.sql("FROM traces").num_rows == 0
