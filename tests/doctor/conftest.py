"""Archives of these tests, made once."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from shared import made_once

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.database.template import template
from hta_sql.demo import write_job


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """Traces of the jobs `slow`, whose loader is slow, and `fine`; the archive `two` has both."""

    def make(folder: Path) -> None:
        small = {"ranks": 1, "steps": 3, "layers": 2, "straggler": None}
        write_job(folder / "slow", bottleneck="data_loading", **small)
        write_job(folder / "fine", **small)
        hta_sql.ingest([folder / "slow", folder / "fine"], folder / "two", workers=1)
        hta_sql.ingest([folder / "slow"], folder / "one", workers=1)

    return made_once(tmp_path_factory, "doctor", make)


@pytest.fixture
def doctor(tmp_path, monkeypatch):
    """Runs the command: doctor("archive", ...) has exit_code and outputs. The cache has only the
    template."""
    made = template(Catalog.load())
    (tmp_path / "cache/hta_sql").mkdir(parents=True, mode=0o700)
    shutil.copy2(made, tmp_path / "cache/hta_sql")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")

    def doctor(*words: object):
        return CliRunner().invoke(cli, ["doctor", *map(str, words)], prog_name="hta-sql")

    return doctor


@pytest.fixture
def fault(folder) -> dict:
    """What the generator says of the fault in `slow`."""
    [fault] = json.loads((folder / "slow/truth.json").read_text())["faults"]
    return fault
