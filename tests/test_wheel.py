"""What is installed works by itself: the SQL is inside, wherever one stands."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

pytestmark = pytest.mark.wheel

PROJECT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The content of a wheel built from the project."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=PROJECT,
        check=True,
        capture_output=True,
    )
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_pip_gives_the_build_all_that_its_hook_imports():
    """`pip install .` builds the wheel where only these are installed."""
    hooks = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    given = hooks["targets"]["wheel"]["hooks"]["custom"]["dependencies"]
    code = (
        "import sys, tempfile; from pathlib import Path; before = {*sys.modules};"
        "from hta_sql.catalogue.catalog import Catalog;"
        "from hta_sql.database.template import make_template;"
        "make_template(Catalog.load(), Path(tempfile.mkdtemp(), 'template'));"
        "print(*{name.partition('.')[0] for name in {*sys.modules} - before})"
    )
    imported = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, check=True, capture_output=True, text=True
    ).stdout.split()
    packages = importlib.metadata.packages_distributions()
    needed = {packages[name][0] for name in imported if name in packages} - {"hta-sql"}
    assert needed <= {re.match(r"[\w-]+", dependency)[0] for dependency in given}


def test_every_sql_file_is_in_the_wheel(installed):
    there = {path.relative_to(installed / "hta_sql/_sql") for path in installed.rglob("*.sql")}
    assert there == {path.relative_to(PROJECT / "sql") for path in PROJECT.glob("sql/**/*.sql")}


def test_the_types_are_in_the_wheel(installed):
    assert (installed / "hta_sql/py.typed").exists()
    methods = (installed / "hta_sql/methods.pyi").read_text(encoding="utf-8")
    assert "    def temporal_breakdown(\n" in methods


def test_the_template_is_in_the_wheel(installed):
    """One, and of the catalogue that the wheel has."""
    [template] = (installed / "hta_sql/_template").iterdir()
    there = {path.name.split(".v")[0] for path in PROJECT.glob("sql/queries/*/*.sql")}
    with closing(duckdb.connect(str(template), read_only=True)) as con:
        assert {name for (name,) in con.execute("SELECT name FROM hta_queries").fetchall()} == there


def test_the_wheel_works_from_anywhere(installed, tmp_path):
    cache = tmp_path / "cache"

    def hta_sql(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "hta_sql.cli", *words],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(cache)},
        ).stdout

    which = "import hta_sql.catalogue.root as c; print(c.sql_root())"
    found = subprocess.run(
        [sys.executable, "-c", which],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(installed)},
    ).stdout.strip()
    assert Path(found) == installed / "hta_sql/_sql"
    assert "temporal_breakdown" in hta_sql("list")
    hta_sql("demo", "traces", "--ranks", "1", "--steps", "1")
    hta_sql("ingest", "traces", "archive")
    assert hta_sql("run", "temporal_breakdown", "archive").startswith("job ")
    templates = list((cache / "hta_sql").glob("*.duckdb"))
    assert not templates, "its own template was not found"
