"""The generated pages are current, and every command has an example."""

import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import click
import pytest

import hta_sql
from hta_sql import plot
from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.database.docs import page

PROJECT = Path(__file__).parent.parent


def test_page_of_queries_is_current():
    current = (PROJECT / "docs/queries.md").read_text(encoding="utf-8")
    assert current == page(Catalog.load()), "run: python -m hta_sql.database.docs > docs/queries.md"


@pytest.fixture(scope="module")
def api_page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("api_page", PROJECT / "docs/api_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_of_the_api_is_current(api_page):
    current = (PROJECT / "docs/api.md").read_text(encoding="utf-8")
    assert current == api_page.page(), "run: python docs/api_page.py > docs/api.md"


def test_public_functions_describe_each_parameter_result_and_error():
    functions = [getattr(hta_sql, name) for name in hta_sql.__all__ if name[0].islower()]
    functions += [Archive.query, Archive.sql, *(getattr(plot, name) for name in plot.__all__)]
    for function in functions:
        text = inspect.getdoc(function)
        for name in inspect.signature(function).parameters:
            if name != "self":
                assert re.search(rf"^    {name}: .", text, re.MULTILINE), (function, name)
        for section in ("Args:", "Returns:", "Raises:", "Examples:"):
            assert f"\n{section}\n" in text, (function, section)


def test_page_has_what_a_header_says(library):
    text = page(Catalog.read(library))
    assert "| [`total_time`](#total_time) | How long each rank's kernels ran. |" in text
    assert "## total_time\n\nHow long each rank's kernels ran.\n\nOverlaps count twice." in text
    assert "total_time(\n    only_ranks INTEGER[] := NULL,\n    min_dur_ns BIGINT := 0\n)" in text
    assert "| `min_dur_ns` | BIGINT | `0` | ns; shorter ones are left out |" in text
    assert "| `name_contains` | VARCHAR | required | part of the name |" in text
    assert "| `sum_ns` | BIGINT | ns | sum of durations |" in text
    assert "One row per `job`, `rank`. Reads `gpu_activities`. Since 0.1." in text
    assert "Older: `total_time_v1`." in text
    assert "Always true: `sum_ns >= 0`." in text
    assert "**Deprecated:** use another, leaves in 9.9" in text
    assert "| `event_id` | BIGINT | 0-based position in traceEvents" in text


def commands() -> list[tuple[str, click.Command]]:
    run = cli.commands["run"]
    queries = [(f"run {name}", run.get_command(None, name)) for name in run.list_commands(None)]
    return [("", cli), *cli.commands.items(), *queries]


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda given: str(given))
def test_every_command_has_a_sentence_and_an_example(name, command):
    first, _, rest = command.help.partition("\n")
    assert first.endswith((".", "stdin.")) and "Example:\n" in rest
    assert f"hta-sql {name}".rstrip() in rest
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
