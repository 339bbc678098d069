"""The command line: tables on terminals and in pipes; ingest and demo."""

import math
import re

import pytest
from click.testing import CliRunner

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.show.screen import print_table, with_sentences
from hta_sql.show.tables import fitted_table, table_lines
from hta_sql.show.units import heads, humane


@pytest.fixture
def terminal(monkeypatch):
    """Make stdout a terminal of 60 columns."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_binary_is_not_for_terminals(tiny_archive, use_library, terminal, form):
    words = ["run", "total_time", str(tiny_archive), "--format", form]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 1
    assert (
        result.stderr
        == f"Error: {form} is not for terminals; add -o FILE, or pipe it to a program\n"
    )


def test_table_on_a_terminal(invoke, tiny_archive, terminal):
    long = "SELECT repeat('abc', 40) || range AS name, range AS n_count FROM range(1000)"
    result = invoke("sql", tiny_archive, long)
    lines = result.stdout.splitlines()
    assert len(lines) == 51
    assert lines[1].startswith("abcabc") and "…" in lines[1]
    assert {len(line) for line in lines[1:]} == {60}
    assert result.stderr == "not shown: 950 of 1,000 rows; --format csv shows all\n"


def test_heads_take_several_lines_before_columns_are_left_out(invoke, tiny_archive, terminal):
    wide = "SELECT 0 AS rank, " + ", ".join(f"{i} AS some_figure_{i}_ns" for i in range(10, 14))
    lines = invoke("sql", tiny_archive, f"{wide} FROM range(20)").stdout.splitlines()
    assert lines[:4] == [
        "        some_    some_    some_    some_",
        "      figure_  figure_  figure_  figure_",
        "rank       10       11       12       13",
        "   0    10 ns    11 ns    12 ns    13 ns",
    ]
    assert len(lines) == 23


def test_a_table_too_wide_for_the_terminal_is_turned(invoke, tiny_archive, terminal):
    wide = "SELECT 0 AS rank, 'job' AS job, " + ", ".join(
        f"{i} AS some_figure_{i}_ns" for i in range(10, 18)
    )
    lines = invoke("sql", tiny_archive, wide).stdout.splitlines()
    assert lines[:3] == ["rank                0", "job               job", "some_figure_10  10 ns"]
    many = invoke("sql", tiny_archive, f"{wide} FROM range(30)")
    lines = many.stdout.splitlines()
    assert len(lines) == 33 and max(map(len, lines)) <= 60
    assert lines[2].split() == ["rank", "job", "10", "11", "12", "13", "14"]
    assert many.stderr == ("3 columns do not fit (--wide): some_figure_15_ns and 2 more\n")


def test_a_line_below_names_the_columns_that_do_not_fit(terminal, capsys):
    names = ["name", *(f"some_figure_{number}_ns" for number in range(12))]
    rows = [(f"{at}{'abc' * 40}", *range(12)) for at in range(40)]
    print_table(names, iter(rows), True, how="--wide")
    out, err = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 60 and len(err.splitlines()) == 1
    assert err == "8 columns do not fit (--wide): some_figure_4_ns and 7 more\n"
    print_table(names, iter(rows), False, how="--columns, --wide")
    left = ", ".join(names[5:])
    assert capsys.readouterr().err == (
        f"not shown: 8 columns ({left}); --columns, --wide or --format csv shows them\n"
    )
    print_table(names, iter(rows), True, is_wide=True)
    out, err = capsys.readouterr()
    assert err == "" and rows[39][0] in out and len(out.splitlines()[1].split()) == 25


def test_table_in_a_pipe_has_all_rows_in_120_columns(invoke, tiny_archive, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    long = "SELECT repeat('abc', 100) AS name, 7 AS n_count FROM range(1000)"
    lines = invoke("sql", tiny_archive, long).stdout.splitlines()
    assert len(lines) == 1001 and {len(line) for line in lines[1:]} == {120}
    monkeypatch.setenv("COLUMNS", "400")
    assert len(invoke("sql", tiny_archive, long).stdout.splitlines()[1]) == 309


@pytest.mark.parametrize("width", [1, 20, 60, 80, 120])
def test_no_line_is_longer_than_asked(width):
    names = ["job", "name", *(f"some_long_figure_{i}_ns" for i in range(30))]
    rows = [("a job", "x" * 300, *range(30))] * 40
    table = fitted_table(names, rows, width)
    lines = [*table.head, *table.lines]
    assert len(table.lines) == 40
    assert max(map(len, lines)) <= max(width, len("job"))
    assert table.left_out == names[len(names) - len(table.left_out) :] and table.left_out


def test_what_is_the_same_in_all_rows_moves_above_a_table_that_is_too_wide():
    names = ["job", "rank", "name", "other_id", "third", "fourth", "cost_ns"]
    rows = [("a job", rank, "n" * 20, 7 + rank, f"t{rank}" * 9, "f" * rank, 9) for rank in (1, 2)]
    assert fitted_table(names, rows, 200).head[0].startswith("job    rank  name")
    table = fitted_table(names, rows * 20, 70)
    assert table.head[0] == f"job a job, name {'n' * 20}, cost 9 ns"
    assert table.lines[0].split() == ["1", "8", "t1" * 9, "f"]
    assert table.left_out == []
    # Ids are left out before texts, texts before numbers.
    names = ["job", "rank", "name", "kind", "third", "fourth", "some_id", "cost_ns"]
    rows = [(*(f"{text}{at:02}" * 7 for text in "abcdef"), at, at) for at in range(40)]
    assert fitted_table(names, rows, 160).left_out == []
    assert fitted_table(names, rows, 145).left_out == ["some_id"]
    assert fitted_table(names, rows, 130).left_out == ["fourth", "some_id"]
    assert fitted_table(names, rows, 75).left_out == [*names[3:6], "some_id"]
    assert fitted_table(names, rows, 40).left_out == names[3:]
    assert fitted_table(names, rows, 24).left_out == names[1:]


def test_places_are_left_out_before_what_is_measured():
    names = ["rank", "stream", "start_ns", "dur_ns", "busy_frac", "is_late", "step", "correlation"]
    rows = [
        (at, 7 + at, 10**18 + at, 10**6 * (at + 1), at / 40, at % 2 == 0, at, at)
        for at in range(40)
    ]
    assert fitted_table(names, rows, 90).left_out == []
    assert fitted_table(names, rows, 80).left_out == ["correlation"]
    assert fitted_table(names, rows, 70).left_out == ["step", "correlation"]
    table = fitted_table(names, rows, 34)
    assert table.left_out == ["stream", "start_ns", "step", "correlation"]
    assert table.lines[0].split() == ["0", "1.00", "ms", "0.0", "%", "True"]


def test_heads_have_no_units_and_differ():
    assert heads(["span_ns", "idle_frac", "peak_bytes", "bus_gbps", "gemm_flops", "count"]) == [
        *("span", "idle", "peak", "bus", "gemm", "count")
    ]
    assert heads(["idle_ns", "idle_frac"]) == ["idle", "idle %"]
    assert heads(["step", "step_ns", "step_frac"]) == ["step", "step time", "step %"]
    assert heads(["x_ns", "x_bytes"]) == ["x_ns", "x_bytes"]
    assert heads(["flops", "bytes", "ns", "_ns"]) == ["flops", "bytes", "ns", "_ns"]
    for query in Catalog.load().newest.values():
        shown = heads([column.name for column in query.columns])
        assert len(set(shown)) == len(shown), query.name
        assert not any(re.search(r"_(ns|frac|bytes|gbps|flops)$", head) for head in shown)


def test_table_is_aligned():
    assert table_lines(
        ["name", "rank", "busy_ns", "busy_frac"],
        [("gemm", 0, 1_240_000, 0.371), ("a\nb", 10, None, None)],
    ) == [
        "name  rank     busy  busy %",
        "gemm     0  1.24 ms  37.1 %",
        "a b     10        -       -",
    ]
    assert table_lines(["a", "b"], []) == ["a  b"]


def test_equal_values_of_a_table_that_look_different():
    """Equal ones are formatted once, but for these."""
    assert table_lines(["v", "u"], [(0.0, 1), (-0.0, True), (0.0, 1), (-0.0, True)] * 2) == [
        " v     u",
        *[" 0     1", "-0  True"] * 4,
    ]
    assert table_lines(["n", "t"], [(7, "a"), (None, "bc"), (8, None)] * 3) == [
        "n  t",
        *["7  a", "-  bc", "8  -"] * 3,
    ]
    assert table_lines(["l"], [([1, 2],), ([1, 2],)]) == ["     l", "[1, 2]", "[1, 2]"]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("dur_ns", 0, "0 ns"),
        ("dur_ns", 999, "999 ns"),
        ("dur_ns", 1000, "1.00 µs"),
        ("dur_ns", 999_499, "999 µs"),
        ("dur_ns", 999_501, "1.00 ms"),
        ("mean_ns", 12_345_678.9, "12.3 ms"),
        ("diff_ns", -12_345_678, "-12.3 ms"),
        ("dur_ns", 90_000_000_000, "1.50 min"),
        ("dur_ns", 5 * 10**15, "1,389 h"),
        ("start_ns", 1712151111631234567, "2024-04-03 13:31:51.631234567"),
        ("launch_end_ns", 1_000_000_001, "1.000000001 s"),
        ("at_ns", -1, "-0.000000001 s"),
        ("bytes", 999, "999 B"),
        ("moved_bytes", 1_500_000_000, "1.50 GB"),
        ("flops", 4_947_802_324_992, "4.95 TFLOP"),
        ("recomputed_flops", 0, "0 FLOP"),
        ("busy_frac", 1.0, "100.0 %"),
        ("busbw_gbps", 123.456, "123.5 GB/s"),
        ("tokens_per_s", 913_612.4, "913,612"),
        ("tokens_per_s", 12.3456, "12.35"),
        ("kernel_count", 1234567, "1,234,567"),
        ("count", 1234567, "1,234,567"),
        ("event_id", 1234567, "1234567"),
        ("imbalance", 1.23456, "1.235"),
        ("odd_ns", math.nan, "nan"),
        ("is_short", True, "True"),
        ("grid", [1, 2], "[1, 2]"),
        ("anything", None, "-"),
    ],
)
def test_units_for_people(name, value, text):
    assert humane(name, value) == text


def test_ingest(tmp_path):

    write_job(tmp_path / "traces", ranks=2, steps=1, layers=1)
    (tmp_path / "odd.json").write_text("{}")
    words = ["ingest", str(tmp_path / "traces"), str(tmp_path / "archive"), "--job", "mine"]
    result = CliRunner().invoke(cli, [*words, "--workers", "1"])
    assert (result.exit_code, result.stdout) == (0, "")
    lines = [re.sub(r"[\d.,]+ (events|s\b)", r"N \1", line) for line in result.stderr.splitlines()]
    assert sorted(lines[-3:-1]) == [
        "mine rank 0: ingested, N events, N s",
        "mine rank 1: ingested, N events, N s",
    ]
    assert lines[-1] == "2 traces: 2 ingested; N s"
    result = CliRunner().invoke(cli, [*words[:2], str(tmp_path / "odd.json"), *words[2:]])
    assert result.exit_code == 1
    assert "odd.json: failed: " in result.stderr
    assert "3 traces: " in result.stderr and "1 failed, 2 unchanged" in result.stderr


def test_demo(tmp_path, monkeypatch):
    from hta_sql import demo

    seen = {}

    def write_job(out, **options):
        seen.update(options, out=out)
        return ["one"]

    monkeypatch.setattr(demo, "write_job", write_job, raising=False)
    for words, straggler in (([], -1), (["--straggler", "none"], None), (["--straggler", "2"], 2)):
        result = CliRunner().invoke(cli, ["demo", str(tmp_path), "--ranks", "3", *words])
        assert result.exit_code == 0, result.output
        assert seen == {
            "out": tmp_path,
            "ranks": 3,
            "steps": 3,
            "layers": 4,
            "seed": 0,
            "scale": 1,
            "time_format": "based",
            "collective_ids": "comms_id",
            "straggler": straggler,
            "bottleneck": None,
            "change": None,
            "gzip": True,
        }


def test_sentences_have_lines_of_their_own(monkeypatch):
    """The column text is wrapped below its row, and lists are left out."""
    names = ["rank", "check", "text", "weakens"]
    rows = [(0, "missing_steps", "There are no steps. " * 4, ["a"] * 50), (1, "thin", "Few.", [])]
    table = with_sentences(names, rows, 60)
    assert table.left_out == ["weakens"]
    assert table.head == ["rank  check"]
    assert table.lines == [
        "   0  missing_steps",
        "    There are no steps. There are no steps. There are no",
        "    steps. There are no steps.",
        "   1  thin",
        "    Few.",
    ]
    assert with_sentences(["rank", "name"], [(0, "mm")], 60) is None


def test_the_name_stays_when_columns_are_left_out():
    names = ["job", "kind", "category", "name", "a_ns", "b_ns", "c_ns", "d_ns", "e_ns"]
    texts = [[letter * 10 + f"{at:02}" for letter in "jkc"] for at in range(60)]
    rows = [(*text, text[0] * 5, *[at * 10**8] * 5) for at, text in enumerate(texts)]
    assert fitted_table(names, rows, 80).left_out == ["category", "e_ns"]
