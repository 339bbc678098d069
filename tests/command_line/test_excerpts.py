"""Columns, order and rows of a query's result: --columns, --sort, --where and --limit."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from every_query import REQUIRED
from queries.plans import plan
from written_archives import write_archive

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.header import OPTIONS
from hta_sql.cli import cli
from hta_sql.cli.queries import query_command
from hta_sql.database.excerpt import Excerpt

COLUMNS = (
    "its columns are job, rank, kind, name, count, total_ns, mean_ns, min_ns, p50_ns, p95_ns, "
    "max_ns, stddev_ns, total_frac, position"
)


def run(*words):
    return CliRunner(env={"COLUMNS": "120"}).invoke(
        cli, ["run", *(str(word) for word in words)], prog_name="hta-sql"
    )


def rows(*words):
    result = run(*words, "--format", "json")
    assert result.exit_code == 0, result.stderr or result.exception
    return json.loads(result.stdout)


def test_options(tiny_archive):
    words = ["kernel_stats", tiny_archive, "--columns", "name,rank"]
    assert rows(*words, "--sort", "-total_ns,name", "--where", "rank = 1", "--limit", 2) == [
        {"name": "relu", "rank": 1},
        {"name": "ncclDevKernel_AllReduce", "rank": 1},
    ]
    # A condition may read other queries and end with a comment.
    condition = "rank IN (SELECT max(rank) FROM temporal_breakdown()) -- the last"
    assert [row["rank"] for row in rows(*words, "--where", condition)] == [1] * 4
    # Rows that are equal in the columns of --sort keep the order of job, rank, kind and name.
    names = ["ncclDevKernel_AllReduce", "gemm", "relu", "Memcpy HtoD"]
    assert [tuple(row.values()) for row in rows(*words, "--sort", "-count")] == [
        (name, rank) for rank in (0, 1) for name in names
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--columns", "nme"],
            f"--columns: kernel_stats has no column 'nme'; did you mean 'name'? {COLUMNS}",
        ),
        (
            ["--columns", "NAME"],
            f"--columns: kernel_stats has no column 'NAME'; did you mean 'name'? {COLUMNS}",
        ),
        (["--sort", "name desc"], "--sort: 'name desc' is no column; write -name"),
        (["--sort", "rank,name ASC"], "--sort: 'name ASC' is no column; write name"),
        (["--where", " "], "--where takes one SQL condition; the text is empty"),
        (
            ["--limit", 2**63],
            f"Invalid value for '--limit': {2**63} is not in the range 1<=x<={2**63 - 1}.",
        ),
        (["--limit", 1.5], "Invalid value for '--limit': '1.5' is not a valid whole number."),
        (["--columns", "rank,rank"], "--columns: rank is given twice"),
        (
            ["--sort", "-total"],
            f"--sort: kernel_stats has no column 'total'; did you mean 'total_ns'? {COLUMNS}",
        ),
        (
            ["--where", "totl_ns > 1"],
            f"--where: kernel_stats has no column 'totl_ns'; did you mean 'total_ns'? {COLUMNS}",
        ),
        (
            ["--where", 'kind = "copy"'],
            f"--where: kernel_stats has no column 'copy'; {COLUMNS}; "
            "write a text as 'copy', in single quotes",
        ),
    ],
)
def test_wrong_columns(tiny_archive, words, says):
    result = run("kernel_stats", tiny_archive, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"Error: {says}"


@pytest.mark.parametrize(
    "condition",
    [
        *("rank = 0; SELECT 1", ";", "", "rank = 0) OR (true", "true) --", "true) /*", "true /*"),
        *("rank = 0 ORDER BY name", "true LIMIT 1", "true UNION SELECT 1", "true GROUP BY rank"),
        *("rank, true", "SELECT true", "true AS x", "true FROM traces", "'", "true)) --\n(("),
        "true) UNION ALL (SELECT 1 WHERE (true",
    ],
)
def test_where_takes_one_condition(tiny_archive, condition):
    result = run("kernel_stats", tiny_archive, "--where", condition)
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert line.startswith("Error: --where takes one SQL condition"), line


def test_where_on_a_column_named_like_a_keyword(tiny_archive):
    wrong = run("trace_quality", tiny_archive, "--where", "check = 'x'")
    assert wrong.exit_code == 2
    assert wrong.stderr.endswith("; check is also a keyword, so put the column in double quotes\n")
    other = run("trace_quality", tiny_archive, "--where", "rank rank = 1")
    assert other.exit_code == 2 and "keyword" not in other.stderr
    assert run("trace_quality", tiny_archive, "--where", "\"check\" = 'x'").exit_code == 0


def test_values_that_fail_a_condition(tiny_archive):
    """When the condition is bound or computed, and in a table as in formats that Arrow writes."""
    wrong = [
        *("count(*) > 1", "row_number() OVER () = 1", "'a'", "rank = 'a'", "x.rank = 1", "$x"),
        *("nofun(rank)", "name::INTEGER = 1"),
    ]
    for condition, format in [*((each, "table") for each in wrong), (wrong[-1], "csv")]:
        result = run("kernel_stats", tiny_archive, "--where", condition, "--format", format)
        assert (result.exit_code, result.stdout) == (2, "")
        last = result.stderr.splitlines()[-1]
        assert last.startswith("Error: --where: ") and " Error: " not in last[7:], last


def test_why_there_are_no_rows(tiny_archive):
    """A condition that keeps no rows is not the same as a query that has none."""
    result = run("kernel_stats", tiny_archive, "--where", "rank = 9")
    assert sorted(result.stderr.splitlines()) == [
        "--where 'rank = 9' keeps none of the 8 rows of kernel_stats",
        "no rows",
    ]
    result = run("profiler_steps", tiny_archive, "--where", "rank = 0")
    assert "profiler_steps has no rows: the traces have no annotations" in result.stderr
    assert "--where" not in result.stderr


def test_many_rows_have_a_separator(make_archive):
    given = [
        {"rank": 0, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1} for at in range(1093)
    ]
    words = [make_archive(gpu_activities=given), "--where", "rank = 9"]
    result = run("kernel_timeline", *words)
    assert "keeps none of the 1,093 rows of kernel_timeline" in result.stderr


def test_nulls_come_last(make_archive):
    given = [
        {"rank": 0, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1, "step": step}
        for at, step in ((1, None), (2, 5), (3, 7))
    ]
    archive = make_archive(gpu_activities=given)
    for order, steps in (("-step", [7, 5, None]), ("step", [5, 7, None])):
        found = rows("kernel_timeline", archive, "--sort", order, "--columns", "step")
        assert [row["step"] for row in found] == steps


def test_options_are_no_parameters():
    """The catalogue refuses parameters with the names of options of all queries."""
    command = query_command("profiler_steps", Catalog.load().versions("profiler_steps"))
    own = {parameter.name for parameter in Catalog.load().find("profiler_steps").parameters}
    assert {option.name for option in command.params} - own == OPTIONS - {"help"}


# One of each theme, and those that are computed in another way.
QUERIES = (
    *("kernel_timeline", "op_stats", "lost_gpu_time", "kernel_diff", "fleet_summary", "what_if"),
    *("call_stack", "findings", "low_utilisation_jobs"),
)


@pytest.mark.queries
@pytest.mark.parametrize("name", QUERIES)
def test_each_query(demo_run, name):
    """The same as sorting and choosing the rows of the whole result in Python."""
    query = Catalog.load().find(name)
    given = REQUIRED.get(name, {})
    number = query.columns[-1].name
    for column in query.columns:
        if column.type in ("BIGINT", "INTEGER"):
            number = column.name

    def place(row):
        return [(row[key] is None, row[key]) for key in (number, *query.grain)]

    names = dict.fromkeys([*query.grain, number])
    found = demo_run.rows_of(query, given).to_pylist()
    kept = sorted((row for row in found if row[number] is not None), key=place)[:3]
    excerpt = Excerpt([*names], [number], f"{number} IS NOT NULL", 3)
    assert demo_run.relation_of(query, given, excerpt).to_arrow_table().to_pylist() == [
        {key: row[key] for key in names} for row in kept
    ]


@pytest.fixture(scope="module")
def four_ranks(tmp_path_factory):
    rows = [
        {"rank": rank, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1}
        for rank in range(4)
        for at in range(10)
    ]
    root = write_archive(tmp_path_factory.mktemp("four"), gpu_activities=rows, host_ops=rows)
    with Archive(root) as archive:
        yield archive


def nodes(archive, name, **excerpt):
    query = Catalog.load().find(name)
    sql = Excerpt(**excerpt).sql(archive.session, query, f"FROM {query.macro}()")
    return plan(archive.con, sql)


def scans(found):
    return [node["extra_info"] for node in found if "PARQUET" in node["name"].upper()]


def test_a_condition_reaches_the_files(four_ranks):
    """DuckDB opens the files of one rank only."""
    read = [
        info["Scanning Files"]
        for info in scans(nodes(four_ranks, "kernel_stats", where="rank = 3"))
        if "Scanning Files" in info
    ]
    assert read == ["1/4"]


def test_columns_reach_the_files(four_ranks):
    def projected(**excerpt):
        found = scans(nodes(four_ranks, "launch_stats", **excerpt))
        return {name for info in found for name in np.atleast_1d(info["Projections"])}

    assert {"name", "dur_ns", "start_ns"} <= projected()
    assert "name" not in projected(columns=["rank", "gpu_ns"])


def test_a_limit_needs_no_full_order(four_ranks):
    names = [node["name"] for node in nodes(four_ranks, "kernel_stats", limit=3)]
    assert "TOP_N" in names and "ORDER_BY" not in names


@pytest.mark.parametrize("name", ["op_calls", "kernel_timeline", "idle_gaps"])
def test_rows_are_sorted_once(four_ranks, name):
    """The order of the query gives way to the order that is asked for."""
    query = Catalog.load().find(name)
    four_ranks.session.load([query.macro])
    for excerpt in ({}, {"sort": [query.columns[-1].name]}):
        found = [node["name"] for node in nodes(four_ranks, name, **excerpt)]
        assert found.count("ORDER_BY") == 1


def test_the_order_of_every_query_can_be_left_out():
    for query in Catalog.load().newest.values():
        ordered, unordered = query.sql.count("\nORDER BY"), query.unordered.count("\nORDER BY")
        assert unordered == ordered - 1, query
