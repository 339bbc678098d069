"""The header key `needs`: its names, and that no query has rows without what it needs."""

import re

import pytest
from own_queries import GOOD_QUERY, write_query

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.needs import NEEDS
from hta_sql.catalogue.root import sql_root
from hta_sql.errors import CatalogError

CATALOG = Catalog.load()
REQUIRED = {
    "kernel_sequences": {"operator": "aten::", "min_length": 1},
    "call_stack": {"of_event": 0},
    "under_operator": {"of_name": "aten::%"},
    "after_event": {"of_name": "aten::%"},
    "before_event": {"of_name": "aten::%"},
    "between_events": {"first_name": "aten::%", "second_name": "aten::%"},
}


def test_every_query_says_what_it_needs():
    assert [str(query) for query in CATALOG.queries if not query.needs] == []


def test_each_need_is_needed_and_found():
    needed = {need.need for query in CATALOG.queries for need in query.needs}
    assert needed == set(NEEDS)
    text = (sql_root() / "relations/quality/archive_needs.sql").read_text()
    for need in NEEDS.values():
        assert f"MACRO {need.macro}(" in text


def with_needs(text):
    return GOOD_QUERY.replace("-- grain: job, rank\n", f"-- grain: job, rank\n-- needs: {text}\n")


def test_needs_are_read(tmp_path):
    text = "gpu_activities, steps if min_dur_ns = 5"
    write_query(tmp_path, "gpu/total_time.v1.sql", with_needs(text))
    catalog = Catalog.read(tmp_path)
    [query] = catalog.queries
    assert query.needs_of({}) == ["gpu_activities"]
    assert query.needs_of({"min_dur_ns": "5"}) == ["gpu_activities", "steps"]
    assert catalog.as_json()[0]["needs"] == ["gpu_activities", "steps if min_dur_ns = 5"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gpu", "no need 'gpu'; there are traces, ranks,"),
        ("GPU activities", "'GPU activities' is not a need"),
        ("steps if top_k = 3", "steps if top_k = 3: the query has no parameter 'top_k'"),
    ],
)
def test_wrong_needs(tmp_path, text, says):
    write_query(tmp_path, "gpu/total_time.v1.sql", with_needs(text))
    with pytest.raises(CatalogError, match=r"total_time.v1.sql:10: " + re.escape(says)):
        Catalog.read(tmp_path)


def met(run):
    """The needs that each job meets."""
    macros = sorted({need.macro for need in NEEDS.values()})
    rows = run.sql(" UNION ALL ".join(f"FROM {macro}(NULL, NULL)" for macro in macros))
    found = {}
    for row in rows.to_pylist():
        found.setdefault(row["job"], set()).add(row["need"])
    return found


def calls():
    """Each query of jobs, with the parameters that its needs depend on."""
    for query in CATALOG.queries:
        if "job" not in query.grain:
            continue
        given = REQUIRED.get(query.name, {})
        yield pytest.param(query, given, id=str(query))
        for need in query.needs:
            if need.parameter and query.needs_of(given) != [need.need]:
                more = given | {need.parameter: need.value}
                yield pytest.param(query, more, id=f"{query}-{need.value}")


# Queries of what may not have happened, or of what need not lie in the window.
MAY_BE_EMPTY = {
    "collective_audit",  # faults
    "idle_gaps",  # a single kernel has no gaps
    "idle_reasons",
    "idle_time_breakdown",
    "kernel_sequences",  # operators that launch
    "memory_bandwidth_series",  # copies with a known bandwidth
    "op_launch_delay",
    "steady_steps",  # steps that are alike, one after the other
    "op_flops",  # operators with a known cost
    "sync_points",  # waits
    "under_operator",  # names that fit, and below, events in this order
    "after_event",
    "before_event",
    "between_events",
    "expert_load",  # experts
    "findings",
    "trace_quality",
}


@pytest.mark.real
@pytest.mark.queries
@pytest.mark.parametrize(("query", "given"), list(calls()))
def test_rows_need_what_the_header_says(real_run, query, given):
    """Over the real traces: a job has rows if it meets all needs, and only then."""
    has = met(real_run)
    needs = set(query.needs_of(given))
    able = {job for job, of_job in has.items() if needs <= of_job}
    found = set(real_run.rows_of(query, given)["job"].to_pylist())
    assert found <= able
    assert found == able or query.name in MAY_BE_EMPTY


@pytest.mark.real
@pytest.mark.queries
@pytest.mark.parametrize(
    "query", [q for q in CATALOG.queries if "base_job" in {p.name for p in q.parameters}], ids=str
)
def test_two_jobs_without_what_a_query_needs(real_run, query):
    has, needs = met(real_run), set(query.needs_of({}))
    for job, of_job in has.items():
        if "traces" in of_job and not needs <= of_job:
            assert real_run.rows_of(query, {"base_job": job, "test_job": job}).num_rows == 0, job
