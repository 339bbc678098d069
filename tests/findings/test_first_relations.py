"""A rule finds nothing if the first relation that it takes has no rows: then it does not run."""

from graphlib import TopologicalSorter

import pytest

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.findings import GIVEN, before, takes_of, written_files

TAKES = takes_of(written_files(Catalog.load().root))


def of(given: list[str], **others: str) -> str:
    return ", ".join("NULL" if name == GIVEN else others.get(name, f"r_{name}") for name in given)


@pytest.fixture(scope="module")
def con(demo_archive):
    """Tables with the rows of all shared relations, and empty ones like them."""
    with hta_sql.open(demo_archive) as run:
        shared = TAKES["shared"]
        for name in TopologicalSorter({n: before(shared[n]) for n in shared}).static_order():
            run.con.execute(f"CREATE TABLE r_{name} AS FROM shared_{name}({of(shared[name])})")
            run.con.execute(f"CREATE TABLE empty_{name} AS FROM r_{name} LIMIT 0")
        yield run.con


@pytest.mark.parametrize("rule", [rule for rule, given in TAKES["find"].items() if before(given)])
def test_without_its_first_relation_a_rule_finds_nothing(con, rule):
    given = TAKES["find"][rule]
    first = before(given)[0]
    empty = {first: f"empty_{first}"}
    assert con.execute(f"FROM find_{rule}({of(given, **empty)})").fetchall() == []
