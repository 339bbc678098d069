"""Puts the template database of the SQL files into the wheel; see hta_sql/database/template.py."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TemplateHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # whose SQL files change
            return
        sys.path.insert(0, self.root)
        from hta_sql.catalogue.catalog import Catalog
        from hta_sql.database.template import make_template, name_of

        self.folder = Path(tempfile.mkdtemp(prefix="hta-sql-"))
        catalog = Catalog.load()
        file = self.folder / name_of(catalog)
        make_template(catalog, file)
        build_data["force_include"][str(file)] = f"hta_sql/_template/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self.folder)
