"""The query that CONTRIBUTING.md adds, and its test, as they stand there."""

import re
import shutil
import textwrap
from pathlib import Path

from queries.small_tables import SmallTables

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.root import sql_root

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    [text] = re.findall(rf"^ *```{language}\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)
    return textwrap.dedent(text)


def test_the_example_works(tmp_path, monkeypatch):
    root = shutil.copytree(sql_root(), tmp_path / "sql")
    (root / "queries/gpu/copy_times.v1.sql").write_text(block("sql"))
    catalog = Catalog.read(root)
    monkeypatch.setattr(Catalog, "load", staticmethod(lambda: catalog))
    of_page: dict = {}
    exec(block("python"), of_page)
    gpu = SmallTables()
    of_page["test_copies_at_the_same_time_each_count"](gpu)
    assert gpu.broken_promises("copy_times") == []
