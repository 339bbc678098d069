"""How the statements of enrichment run: none compares every row with many others, whatever crosses.

Each is planned where ingest runs it, over the tables that it finds then.
"""

from collections.abc import Iterator

import duckdb
import pytest
from hand_written import span, trace_text
from queries.plans import plan

from hta_sql.catalogue.root import sql_root
from hta_sql.ingestion import enrich, trace

CALLS = 4000
FILES = {path.stem for path in (sql_root() / "ingest").glob("*.sql")}
GPU_ACTIVITIES = enrich.FILES.text("gpu_activities")


def events(has_numbers: bool) -> Iterator[dict]:
    """Steps with forward and backward operators that all cross the next ones, on three threads,
    each with launches and kernels; with flows, collectives and, or not, sequence numbers."""
    for i in range(CALLS):
        ts = i * 100
        numbers = {"External id": i + 1} | ({"Sequence number": i} if has_numbers else {})
        yield span("aten::mm", ts, 170, tid=1 + i % 2, **numbers)
        yield span("cudaLaunchKernel", ts + 10, 5, "cuda_runtime", tid=1 + i % 2, correlation=i + 1)
        kind = {"Collective name": "allreduce"} if i % 7 == 0 else {}
        yield span(
            "gemm" if i or has_numbers else "gemm" * 5000,
            ts + 20,
            150,
            "kernel",
            pid=0,
            tid=7,
            device=0,
            stream=7,
            correlation=i + 1,
            **numbers,
            **kind,
        )
        asked = {"Fwd thread id": 1 + i % 2} if has_numbers else {}
        yield span("MmBackward0", ts + 30, 150, tid=3, **asked, **numbers)
        yield span("autograd::engine::evaluate_function: MmBackward0", ts + 25, 160, tid=3)
        for ph, tid, at in (("s", 1 + i % 2, ts), ("f", 3, ts + 30)):
            yield {"ph": ph, "id": i, "cat": "fwdbwd", "name": "", "pid": 1, "tid": tid, "ts": at}
        if i % 10 == 0:
            yield span(f"ProfilerStep#{i // 10}", ts, 1050, "user_annotation")
            yield span("## backward ##", ts + 40, 1050, "user_annotation")


class Planning:
    """A connection that plans each statement of rows before it is run."""

    def __init__(self, con: duckdb.DuckDBPyConnection, plans: dict[str, list[dict]]):
        self._con, self._plans = con, plans

    def execute(self, sql: str, *given: object):
        result = self._con
        for statement in self._con.extract_statements(sql):
            text = statement.query.strip()
            self._plan(text, statement.type)
            result = self._con.execute(text, *given)
        return result

    def sql(self, sql: str, *given: object):
        self._plan(sql, duckdb.StatementType.SELECT)
        return self._con.sql(sql, *given)

    def __getattr__(self, name: str):
        return getattr(self._con, name)

    def _plan(self, sql: str, kind: duckdb.StatementType) -> None:
        makes_rows = kind in (duckdb.StatementType.SELECT, duckdb.StatementType.INSERT) or (
            kind == duckdb.StatementType.CREATE and " TABLE " in sql.partition(" AS")[0]
        )
        if makes_rows:
            self._plans[sql] = plan(self._con, sql)


@pytest.fixture(scope="module")
def plans(tmp_path_factory) -> dict[str, list[dict]]:
    """The nodes of the plan of each statement."""
    found: dict[str, list[dict]] = {}
    plain = trace.enrich

    def planned(con: duckdb.DuckDBPyConnection, *given: object):
        return plain(Planning(con, found), *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "enrich", planned)
        for has_numbers in (True, False):
            folder = tmp_path_factory.mktemp("plans")
            file = folder / "rank_0.json"
            file.write_text(trace_text(events(has_numbers)))
            facts = trace.ingest_trace(file, folder / "staging").facts
            assert facts["host_op_count"] == CALLS * 4 + CALLS // 5
    return found


def test_every_file_is_planned(plans):
    """Views alone have no plan of their own: they are in those of who reads them."""
    wanted = {name for name in FILES if "VIEW" not in enrich.FILES.text(name)}
    texts = {name: enrich.FILES.text(name) for name in wanted}
    assert {name for name, text in texts.items() if any(sql in text for sql in plans)} == wanted


def test_no_join_is_quadratic(plans):
    for sql, nodes in plans.items():
        for node in nodes:
            conditions = node["extra_info"].get("Conditions", [])
            conditions = [conditions] if isinstance(conditions, str) else conditions
            unequal = [text for text in conditions if any(sign in text for sign in "<>")]
            if "ASOF" in node["name"]:
                assert len(conditions) > len(unequal) or len(unequal) == 1, (sql, node)
            elif ("JOIN" in node["name"] and "POSITIONAL" not in node["name"]) or (
                "PRODUCT" in node["name"]
            ):
                assert conditions and not unequal, (node["name"], conditions, sql)


def test_no_statement_reads_more_than_three_times(plans):
    """From files, of which `events` is the largest."""
    for sql, nodes in plans.items():
        scans = [node for node in nodes if "READ_PARQUET" in node["name"].upper()]
        assert len(scans) <= 3, (len(scans), sql)


def test_details_of_gpu_activities_only_pass(plans):
    """They are by far the widest rows: no join, sort or table holds them."""
    [nodes] = [nodes for sql, nodes in plans.items() if sql == GPU_ACTIVITIES]
    held = {"ORDER_BY", "WINDOW", "CTE", "CTE_SCAN", "TOP_N"} & {node["name"] for node in nodes}
    assert not held
    joins = [node for node in nodes if "JOIN" in node["name"]]
    assert len(joins) == 4
    for join in joins:
        assert not has_details(join["children"][1]), join["extra_info"]


def has_details(node: dict) -> bool:
    """Whether arguments of events come out of it: an aggregate lets few through."""
    if "GROUP_BY" in node["name"]:
        return False
    if "READ_PARQUET" in node["name"]:
        return "args" in node["extra_info"]["Projections"]
    return any(has_details(child) for child in node["children"])
