"""How graphs are made: no join that grows with the square, no rank read in vain."""

import re

import pytest
from queries.plans import plan

import hta_sql
from hta_sql.critical_path.job import FILES
from hta_sql.database.planning import plan_for_size
from hta_sql.database.sql_files import set_variables


def is_one_row(node) -> bool:
    """An aggregate of everything, or what was kept of one, whatever is made of its row."""
    while node["name"] in ("PROJECTION", "FILTER") and len(node["children"]) == 1:
        [node] = node["children"]
    if node["name"] in ("CTE_SCAN", "COLUMN_DATA_SCAN"):
        return node["extra_info"].get("Estimated Cardinality") == "1"
    return node["name"] in ("UNGROUPED_AGGREGATE", "EMPTY_RESULT")


# Of rows that an equality of ids has brought together, one for each; and of each rank's window.
FEW = ("end_ns > start_ns", "<= start_ns", ">= since_ns", "< until_ns", "<= until_ns")


def grows_with_the_square(nodes) -> list[str]:
    found = []
    for node in nodes:
        is_product = any(word in node["name"] for word in ("CROSS", "NESTED_LOOP", "NL_JOIN"))
        if is_product and not any(map(is_one_row, node["children"])):
            found.append(node["name"])
        conditions = node["extra_info"].get("Conditions", [])
        conditions = [conditions] if isinstance(conditions, str) else conditions
        if "JOIN" in node["name"]:
            found += [
                c
                for c in conditions
                if any(sign in c for sign in "<>!") and not any(few in c for few in FEW)
            ]
    return found


@pytest.fixture(scope="module")
def statements(demo_archive):
    """Each statement of a graph, with its plan; made in order, as each reads those before it."""
    found = {}
    with hta_sql.open(demo_archive) as run:
        run.session.load()
        con = run.session.con
        plan_for_size(con, is_small=False)
        [(start, end)] = con.execute(
            "SELECT start_ns, end_ns FROM steps WHERE rank = 1 AND step = 1"
        ).fetchall()
        set_variables(
            con,
            path_job="traces",
            path_ranks=[1],
            path_windows=[{"rank": 1, "start_ns": start, "end_ns": end, "pid": None, "tid": None}],
            path_start_ns=start,
            path_end_ns=end,
            path_window="step 1",
            path_loading=["enumerate(DataLoader)"],
        )
        assert con.execute("SELECT DISTINCT job FROM traces").fetchall() == [("traces",)]
        FILES.run_all(con, "archive")
        FILES.run(con, "output/begin_job")
        for folder in ("rank", "job"):
            for name in FILES.names(folder):
                begin = r"(?:CREATE OR REPLACE TEMP TABLE \w+ AS|INSERT INTO \w+ BY NAME)\n"
                body = re.split(begin, FILES.text(name))[1]
                found[name] = plan(con, body.rstrip().rstrip(";"))
                FILES.run(con, name)
            if folder == "rank":
                FILES.run(con, "output/add_ranks")
    return found


@pytest.mark.parametrize("name", [*FILES.names("rank"), *FILES.names("job")])
def test_no_join_grows_with_the_square(statements, name):
    if name == "job/2_clocks":  # aligned_clocks has those of the few; see test_comm_plans
        pytest.skip("its joins are those of aligned_clocks")
    assert grows_with_the_square(statements[name]) == []


def test_a_square_would_be_seen(demo_archive):
    with hta_sql.open(demo_archive) as run:
        for sql in (
            "FROM host_ops AS a CROSS JOIN host_ops AS b",
            "FROM host_ops AS a JOIN host_ops AS b ON a.end_ns < b.start_ns",
            "FROM host_ops AS a JOIN host_ops AS b ON a.rank = b.rank AND a.step < b.step",
        ):
            assert grows_with_the_square(plan(run.con, sql))


def test_only_the_rank_is_read(statements):
    """Of the archive's two ranks one, of every table."""
    read = [
        node["extra_info"]["Scanning Files"]
        for name in FILES.names("rank")
        for node in statements[name]
        if node["extra_info"].get("Scanning Files", "").endswith("/2")
    ]
    assert len(read) >= 6 and set(read) == {"1/2"}
