"""--format markdown and --format xlsx."""

import builtins
from io import BytesIO

import openpyxl
import pytest
from click.testing import CliRunner

from hta_sql.cli import cli

# Texts that a spreadsheet or Markdown would read as something else, and numbers at their limits.
ODD = """
    SELECT
        '=1+1' AS formula, 'https://x.y' AS link, 'a|b<c>*d*' AS "head|*",
        9007199254740993 AS beyond_count, 999999999999999 AS exact_ns, -1000000000000000 AS under,
        12345678901234567890123::HUGEINT AS huge, 'nan'::DOUBLE AS odd, 0.25 AS idle_frac,
        true AS is_late, NULL AS nothing, [1, 2] AS list, TIMESTAMP '2026-01-31 01:02:03' AS instant
"""


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], prog_name="hta-sql")


@pytest.mark.parametrize("is_file", [True, False])
def test_xlsx(tiny_archive, tmp_path, is_file):
    out = tmp_path / "result.xlsx"
    words = ["sql", tiny_archive, ODD, *(["-o", out] if is_file else ["--format", "xlsx"])]
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    book = openpyxl.load_workbook(out if is_file else BytesIO(result.stdout_bytes))
    [head, row] = book["result"].iter_rows()
    assert [
        (name.value, cell.value, cell.data_type) for name, cell in zip(head, row, strict=True)
    ] == [
        ("formula", "=1+1", "s"),
        ("link", "https://x.y", "s"),
        ("head|*", "a|b<c>*d*", "s"),
        ("beyond_count", "9007199254740993", "s"),
        ("exact_ns", 999_999_999_999_999, "n"),
        ("under", "-1000000000000000", "s"),
        ("huge", "12345678901234567890123", "s"),
        ("odd", "nan", "s"),
        ("idle_frac", 0.25, "n"),
        ("is_late", True, "b"),
        ("nothing", None, "n"),
        ("list", "[1,2]", "s"),
        ("instant", "2026-01-31 01:02:03", "s"),
    ]
    assert not any(cell.hyperlink for cell in row)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (
            "SELECT repeat('x', 32768) AS name",
            "row 1 has a text of 32,768 characters, and a cell holds 32,767; use csv or parquet",
        ),
        (
            f"SELECT {', '.join(f'{at} AS c{at}' for at in range(16_385))}",
            "a sheet holds 16,384 columns, not 16,385; use csv",
        ),
    ],
)
def test_what_a_sheet_cannot_hold(tiny_archive, tmp_path, sql, says):
    result = run("sql", tiny_archive, sql, "-o", tmp_path / "result.xlsx")
    assert (result.exit_code, result.stderr) == (1, f"Error: {says}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.big
def test_more_rows_than_a_sheet_has(tiny_archive, tmp_path):
    words = ["-o", tmp_path / "result.xlsx"]
    result = run("sql", tiny_archive, "SELECT 1 AS n FROM range(1048576)", *words)
    assert result.stderr == "Error: a sheet holds 1,048,575 rows; use csv or parquet\n"
    assert run("sql", tiny_archive, "SELECT 1 AS n FROM range(1048575)", *words).exit_code == 0


def test_xlsx_is_an_extra(tiny_archive, tmp_path, monkeypatch):
    plain = builtins.__import__

    def without(name, *rest, **named):
        if name == "xlsxwriter":
            raise ImportError(name)
        return plain(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    result = run("sql", tiny_archive, "SELECT 1 AS n", "-o", tmp_path / "result.xlsx")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: writing xlsx needs one more package: pip install 'hta-sql[xlsx]'; or use csv\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_markdown(tiny_archive, tmp_path):
    out = tmp_path / "result.md"
    sql = "SELECT 'a|b<c>' AS name, 1500 AS idle_ns, 0.25 AS idle_frac, true AS is_late"
    assert run("sql", tiny_archive, sql, "-o", out).exit_code == 0
    assert out.read_text() == (
        "| name | idle | idle % | is\\_late |\n"
        "| --- | ---: | ---: | --- |\n"
        "| a\\|b\\<c\\> | 1.50 µs | 25.0 % | True |\n"
    )
    assert run("sql", tiny_archive, sql, "--format", "markdown").stdout == out.read_text()


def test_wide_is_for_tables(tiny_archive):
    result = run("sql", tiny_archive, "SELECT 1 AS n", "--wide", "--format", "csv")
    assert result.exit_code == 2
    assert result.stderr.endswith("Error: --wide is for tables; other formats have all columns\n")
