"""Calls and snippets in the text run."""

import ast
import json
import re
import shutil
from importlib.util import find_spec

import pytest
from click.testing import CliRunner
from hta_cases import needs_hta_outputs
from hta_docs.documents import (
    CALLS,
    COMING,
    DETAILS,
    DIFFERENCES,
    HTA_PARAMETERS,
    QUERIES,
    quoted,
    sections,
    tables,
)

import hta_sql
from hta_sql.cli import cli

pytestmark = pytest.mark.queries


def arguments(query: str, call: str) -> dict:
    """By name, of a call in Python's notation."""
    parsed = ast.parse(call, mode="eval").body
    names = [parameter.name for parameter in QUERIES[query].parameters]
    positional = zip(names, parsed.args, strict=False)
    named = [(keyword.arg, keyword.value) for keyword in parsed.keywords]
    return {name: ast.literal_eval(value) for name, value in [*positional, *named]}


@pytest.mark.parametrize(("query", "theirs", "ours"), CALLS, ids=[call[0] for call in CALLS])
def test_calls_are_the_same(demo_archive, tmp_path, query, theirs, ours):
    method, given = re.fullmatch(r"(?:[\w, ]+ = )?analyzer\.(\w+)\((.*)\)", theirs).groups()
    assert set(re.findall(r"(\w+)=", given)) <= set(HTA_PARAMETERS[method])
    assert list(ours) == ["Python", "SQL", "shell"]
    archive = shutil.copytree(demo_archive, tmp_path / "archive")  # paths are kept in it
    with hta_sql.open(archive) as run:
        if query.startswith("critical_path"):
            run.compute_critical_path(step=1)
        rows = eval(ours["Python"], {"run": run}).to_pylist()
        assert run.sql(ours["SQL"]).to_pylist() == rows
    assert rows or query == "hardware_counters"  # of which the demo has none
    start = f"hta-sql run {query} archive"
    assert f"{ours['shell']} ".startswith(f"{start} ")
    options = ours["shell"].removeprefix(start).split()
    given_here = arguments(query, ours["Python"])
    assert arguments(query, ours["SQL"].removeprefix("FROM ").replace(":=", "=")) == given_here
    assert dict(zip(options[::2], options[1::2], strict=True)) == {
        f"--{name.replace('_', '-')}": str(value[0] if isinstance(value, list) else value)
        for name, value in given_here.items()
    }
    shell = CliRunner().invoke(cli, ["run", query, str(archive), *options, "--format", "json"])
    assert shell.exit_code == 0, shell.output
    assert json.loads(shell.stdout) == json.loads(json.dumps(rows))


def test_traces_for_perfetto_are_written(demo_archive, tmp_path, monkeypatch):
    shutil.copytree(demo_archive, tmp_path / "archive")
    monkeypatch.chdir(tmp_path)
    with hta_sql.open("archive") as run:
        run.compute_critical_path(step=1)
    [(_, written)] = tables(sections(COMING, 2)["Traces for Perfetto"])
    commands = [quoted(here)[0] for _, here in written]
    assert len(commands) == 4
    for command in commands:
        result = CliRunner().invoke(cli, command.removeprefix("hta-sql ").split())
        assert result.exit_code == 0, result.output
        assert result.stderr.endswith(" events in out.json.gz\n")
        (tmp_path / "out.json.gz").unlink()


def snippets(language: str) -> list[str]:
    """Of both pages of calls; the archive is made in the first."""
    return re.findall(rf"^```{language}\n(.*?)^```$", COMING + DETAILS, re.MULTILINE | re.DOTALL)


def test_python_snippets_run(demo_archive, tmp_path, monkeypatch):
    (tmp_path / "traces").symlink_to(demo_archive.parent / "traces")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for text in snippets("python"):
        if text != pandas_snippet():
            exec(text, names)
    assert len(names["rows"]) == 2 and names["own"].column_names == ["rank", "idle_us"]
    with hta_sql.open("two_files") as run:
        assert run.sql("SELECT rank FROM traces ORDER BY rank").to_pylist() == [
            {"rank": 0},
            {"rank": 1},
        ]
    names["run"].close()


def pandas_snippet() -> str:
    [text] = [text for text in snippets("python") if "to_pandas()" in text]
    return text


def test_pandas_snippet_runs_where_there_is_pandas(demo_archive):
    with hta_sql.open(demo_archive) as run:
        names = {"run": run}
        if find_spec("pandas") is None:
            with pytest.raises(ImportError, match="pandas"):
                exec(pandas_snippet(), names)
        else:
            exec(pandas_snippet(), names)
            assert list(names["frame"].columns) == run.temporal_breakdown().column_names


def test_sql_snippet_adds_up_ranks(demo_archive):
    with hta_sql.open(demo_archive) as run:
        rows = run.sql(snippets("sql")[0]).to_pylist()
        whole = run.kernel_kind_breakdown().to_pylist()
    assert {row["rank"] for row in whole} == {0, 1}
    assert sum(row["time_us"] for row in rows) * 1000 == pytest.approx(
        sum(row["time_ns"] for row in whole)
    )
    assert len(rows) == len({row["kinds"] for row in whole})


@needs_hta_outputs
def test_sql_snippet_makes_columns_of_counters(real_run):
    table = real_run.sql(snippets("sql")[1])
    assert table.num_rows == 77
    assert table.column_names[:3] == ["rank", "event_id", "kernel"]
    assert set(table.column_names[3:]) == {
        row["counter"] for row in real_run.hardware_counters().to_pylist()
    }


def test_all_snippets_run():
    """In the tests above: of python all, of sql two."""
    assert len(snippets("sql")) == 2
    languages = re.findall(r"^```(\w*)\n", COMING + DETAILS + DIFFERENCES, re.MULTILINE)
    assert set(languages) == {"", "python", "sql"}
