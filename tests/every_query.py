"""What fails if all of the catalogue, and all that uses it, reads an archive."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hta_sql
from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.errors import HtaSqlError
from hta_sql.export.perfetto import export_perfetto

REQUIRED: dict[str, dict[str, Any]] = {
    "kernel_sequences": {"operator": "aten::linear", "min_length": 1},
    "call_stack": {"of_event": 100},
    "under_operator": {"of_name": "aten::%"},
    "after_event": {"of_name": "aten::%"},
    "before_event": {"of_name": "aten::%"},
    "between_events": {"first_name": "aten::%", "second_name": "aten::%"},
}
# No query may take all of a machine's memory, whatever the numbers in a trace are.
MEMORY_LIMIT = "3GB"


def failures(root: Path) -> list[str]:
    """A line for each query that fails or breaks a promise of its header."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with hta_sql.open(root) as run:
            run.con.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
            return list(_failing(run))


def _failing(run: Archive) -> Iterator[str]:
    for query in Catalog.load().queries:
        try:
            if query.required:
                run.query(query.name, query.version, **REQUIRED[query.name])
            else:
                yield from run.check(query.name, query.version)
        except HtaSqlError as error:
            yield f"{query}: {error}"


def failing_uses(root: Path, folder: Path) -> list[str]:
    """A line for each command beside the queries that fails."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with hta_sql.open(root) as run:
            jobs = sorted(set(run.sql("SELECT job FROM traces")["job"].to_pylist()))
            uses = {
                "compute_critical_path": lambda: run.compute_critical_path(),
                "materialize": lambda: run.materialize(),
                "doctor": lambda: str(hta_sql.doctor(root)),
                **{
                    f"export of {job}": lambda job=job: export_perfetto(
                        run, folder / "export.json", job=job, categories=True
                    )
                    for job in jobs
                },
            }
            for name, use in uses.items():
                try:
                    use()
                except HtaSqlError as error:
                    found.append(f"{name}: {error}")
    return found


def check(root: Path, uses_in: Path | None = None) -> None:
    """Fail with all that fails. `uses_in` is a folder for exports; None: only queries are asked."""
    found = failures(root) + (failing_uses(root, uses_in) if uses_in else [])
    if found:
        pytest.fail("\n".join(found))
