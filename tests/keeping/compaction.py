"""Rows of traces."""

from pathlib import Path

from hta_sql.store.manifest import Manifest

DAY = 86_400


def traces(archive: Path) -> dict[tuple, dict]:
    return {(row["job"], row["rank"]): row for row in Manifest(archive).rows()}
