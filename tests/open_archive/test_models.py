"""Cost models of the user, in a file of SQL."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_written import ingested, span, trace_text

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import BadParameter, HtaSqlError

DOCS = Path(__file__).parents[2] / "docs" / "inference.md"


def call(name: str, at: int, dims: list, types: list) -> list[dict]:
    """An operator that launches one kernel of 1000 us."""
    args = {"Input Dims": dims, "Input type": types, "Concrete Inputs": [""] * len(dims)}
    return [
        span(name, at, 9, "cpu_op", 1, 1, **args),
        span("cudaLaunchKernel", at + 1, 2, "cuda_runtime", 1, 1, correlation=at),
        span("k", 1000 * at, 1000, "kernel", 0, 7, device=0, stream=7, correlation=at),
    ]


@pytest.fixture
def archive(tmp_path):
    half = "c10::BFloat16"
    rows = call("mylib::fused_mlp", 10, [[3, 5], [5, 7]], [half, half])
    rows += call("aten::mm", 30, [[2, 4], [4, 8]], ["float", "float"])
    ingested(tmp_path, trace_text(rows)).close()
    return tmp_path / "archive"


@pytest.fixture
def example(tmp_path):
    """The one of the documentation."""
    [text] = re.findall(r"```sql\n(-- models.sql\n.*?)```", DOCS.read_text(), re.DOTALL)
    file = tmp_path / "models.sql"
    file.write_text(text)
    return file


def costs(archive, models=None) -> dict[str, tuple]:
    with hta_sql.open(archive, models=models) as run:
        rows = run.op_flops().to_pylist()
    return {row["name"]: (row["family"], row["flops"], row["bytes"], row["dtype"]) for row in rows}


MM = ("matrix product", 2 * 2 * 4 * 8, 4 * (2 * 4 + 4 * 8 + 2 * 8), "float32")


def test_the_example_of_the_documentation(archive, example):
    assert costs(archive) == {"aten::mm": MM}
    mlp = ("matrix product", 2 * 3 * 5 * 7, 2 * (3 * 5 + 5 * 7 + 3 * 7), "bfloat16")
    assert costs(archive, example) == {"aten::mm": MM, "mylib::fused_mlp": mlp}


def test_the_models_replace_ours(archive, example):
    text = example.read_text().replace("mylib::fused_mlp", "aten::mm")
    example.write_text(text.replace("'matrix product'", "'mine'").replace("[2, s.", "[11, s."))
    assert costs(archive, example) == {"aten::mm": ("mine", 11 * 2 * 4 * 8, *MM[2:])}


def test_an_operator_without_a_row_has_no_cost(archive, example):
    example.write_text(
        example.read_text().replace("AS name", "AS name UNION ALL SELECT 'aten::mm'")
    )
    assert costs(archive, example).keys() == {"mylib::fused_mlp"}


def test_mfu_counts_them(archive, example):
    def flops(models):
        with hta_sql.open(archive, models=models) as run:
            return run.step_mfu().to_pylist()[0]["flops"]

    assert flops(example) - flops(None) == 2 * 3 * 5 * 7


OPERATORS = "CREATE OR REPLACE MACRO user_operators() AS TABLE SELECT 'x' AS name; "
WRONG = {
    "SELEC": "syntax error",
    "SELECT 1": "a statement that is not CREATE OR REPLACE MACRO",
    "COPY (SELECT 1) TO 'x.csv'": "a statement that is not CREATE OR REPLACE MACRO",
    OPERATORS: "no macro user_costs; the file has to define user_operators and user_costs",
    OPERATORS + "CREATE OR REPLACE MACRO user_costs(shapes) AS TABLE SELECT 1 AS shape_number": (
        '"family" not found'
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_files_that_are_wrong(archive, tmp_path, text):
    file = tmp_path / "models.sql"
    file.write_text(text)
    with pytest.raises(HtaSqlError) as raised:
        hta_sql.open(archive, models=file)
    assert str(file) in str(raised.value) and WRONG[text] in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_command(archive, example, tmp_path):
    def asked(models):
        command = ["run", "op_flops", str(archive), "--models", str(models), "--format", "csv"]
        return CliRunner().invoke(cli, command)

    assert "mylib::fused_mlp" in asked(example).stdout
    answer = asked(tmp_path / "none.sql")
    assert answer.exit_code == 1
    assert answer.stderr == f"Error: {tmp_path}/none.sql: No such file or directory\n"
    counted = ["sql", str(archive), "SELECT count(*) AS n FROM op_flops()", "--format", "csv"]
    assert CliRunner().invoke(cli, [*counted, "--models", str(example)]).stdout.split() == [
        '"n"',
        "2",
    ]


def test_not_on_a_cluster(archive, example):
    with pytest.raises(BadParameter, match="only with the engine local"):
        hta_sql.open(archive, engine="ray", models=example)
