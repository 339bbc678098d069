"""The command line's help: what people read first, at 80 columns."""

import os
import re

import click
import pytest
from click.testing import CliRunner

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.show.prose import filled


def help_of(*words: str) -> list[str]:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(cli, [*words, "--help"], prog_name="hta-sql")
    assert result.exit_code == 0
    return result.stdout.splitlines()


def all_commands() -> list[tuple[str, ...]]:
    export = cli.commands["export"]
    assert isinstance(export, click.Group)
    return [
        (),
        *((name,) for name in cli.commands),
        *(("export", name) for name in export.commands),
        *(("run", name) for name in Catalog.load().newest),
    ]


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_help_fits_80_columns(words):
    long = [line for line in help_of(*words) if len(line) > 80]
    assert not long


def test_every_command_has_a_whole_line_in_a_group():
    lines = help_of()
    groups = [line for line in lines if re.fullmatch(r"[A-Z][\w ]+:", line)]
    assert len(groups) >= 5 and "Commands:" not in groups
    for name, command in cli.commands.items():
        summary = command.help.partition("\n")[0]
        assert [line.split(maxsplit=1) for line in lines].count([name, summary]) == 1, name
    assert not any("..." in line for line in lines if not line.startswith("Usage"))


def test_hta_sql_alone_says_what_to_do_first():
    result = CliRunner().invoke(cli, [])
    assert result.exit_code == 0
    commands = re.findall(r"^  hta-sql (\S+)", result.stdout, re.MULTILINE)
    assert commands == ["doctor", "ingest", "report", "run", "demo"]
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_help_of_a_query_has_its_lists_options_and_columns():
    lines = help_of("run", "stragglers")
    assert sum(line.startswith("    * ") for line in lines) >= 3
    assert any(re.match(r"  --only-jobs TEXT,\.\.\. .*\[default: all\]$", line) for line in lines)
    columns = lines[lines.index("Columns:") :]
    assert any(line.startswith("  is_straggler ") for line in columns)


def test_demo_shows_a_newcomer_around(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["demo", "--ranks", "2", "--steps", "1", "--layers", "1"])
    assert result.exit_code == 0, result.output
    commands = re.findall(r"^\$ hta-sql (\S+ \S+)", result.stdout, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["ingest", "run", "run", "run"]
    assert "hta-sql ingest TRACES archive" in result.stdout.splitlines()[-3]
    assert sorted(os.listdir("hta-demo")) == ["archive", "traces"]
    assert CliRunner().invoke(cli, ["demo", "--ranks", "2", "--steps", "1"]).exit_code == 0


def test_text_is_filled_but_lists_and_drawings_stay():
    text = (
        "One two three\nfour five six.\n"
        "  * an item that is long\n    and goes on\n"
        "  * another\n\n"
        "    rank 0  [==)   its end is far away\n"
        "    rank 1  [=====)\n\n"
        "    name    text of it that\n"
        "            goes on"
    )
    assert filled(text, 24) == (
        "One two three four five\nsix.\n"
        "  * an item that is long\n    and goes on\n"
        "  * another\n\n"
        "    rank 0  [==)   its\n"
        "                  end is\n"
        "                  far\n"
        "                  away\n"
        "    rank 1  [=====)\n\n"
        "    name    text of it\n"
        "            that goes on"
    )
