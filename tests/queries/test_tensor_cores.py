"""Which kernels run on tensor cores."""

import pytest
from queries.efficiency import NOT_SAID, ON_TENSOR_CORES


@pytest.mark.parametrize(
    ("name", "use"), [(name, use) for use, names in ON_TENSOR_CORES for name in names]
)
def test_on_tensor_cores(gpu, name, use):
    assert gpu.con.execute("SELECT tensor_core_use($1)", [name]).fetchall() == [(use,)]


@pytest.mark.parametrize("name", NOT_SAID)
def test_not_said(gpu, name):
    assert gpu.con.execute("SELECT tensor_core_use($1)", [name]).fetchall() == [(None,)]


def test_every_rule_has_an_example(gpu):
    rules = gpu.con.execute(
        "SELECT regexp_extract_all(macro_definition, $$THEN .?'([^']+)$$, 1) "
        "FROM duckdb_functions() WHERE function_name = 'tensor_core_use'"
    ).fetchall()[0][0]
    assert sorted(rules) == sorted(use for use, _ in ON_TENSOR_CORES)
