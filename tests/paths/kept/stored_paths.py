"""Windows and files of paths."""

from pathlib import Path

from click.testing import CliRunner

import hta_sql
from hta_sql.cli import cli


def windows(archive: Path) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return [
            tuple(row.values())
            for row in run.sql(
                "SELECT job, path_window, ranks FROM critical_paths ORDER BY ALL"
            ).to_pylist()
        ]


def path_files(archive: Path) -> set[str]:
    return {
        path.stem
        for table in ("path_edges", "job_path_edges", "what_if_times")
        for path in archive.glob(f"{table}/*/*/*.parquet")
    }


def invoke(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])
