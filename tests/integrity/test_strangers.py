"""Archives that somebody else made: nothing in them runs, and no file outside them is touched."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hta_sql
from hta_sql import SCHEMA_VERSION
from hta_sql.errors import ArchiveError
from hta_sql.store.manifest import Manifest


def rewrite(archive: Path, change) -> None:
    """Write the manifest `traces` as somebody else would: without the checksum beside it."""
    schema = pq.read_schema(archive / "traces.parquet")
    rows = pq.read_table(archive / "traces.parquet").to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), archive / "traces.parquet")
    (archive / ".traces.parquet.sha256").unlink()


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of somebody's own, with files that must stay."""
    folder = tmp_path / "mine"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/thesis.txt").write_text("thesis")
    (folder / "0123456789abcdef.parquet").write_text("my own")
    (folder / "lock").write_text("not empty")
    return folder


def kept(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("command", ["ingest", "compact", "materialize", "drop", "import"])
def test_staging_that_is_a_link(archive, traces, mine, command):
    before, other = kept(mine), shutil.copytree(archive, f"{archive}-other")
    shutil.rmtree(archive / ".staging")
    (archive / ".staging").symlink_to(mine)
    with pytest.raises(ArchiveError, match="this is a link, .* remove the link"):
        {
            "ingest": lambda: hta_sql.ingest(traces, archive, force=True, workers=1),
            "compact": lambda: hta_sql.compact(archive),
            "materialize": lambda: hta_sql.materialize(archive, force=True),
            "drop": lambda: hta_sql.drop(archive, jobs=["bert"]),
            "import": lambda: hta_sql.import_job(other, archive, force=True),
        }[command]()
    assert kept(mine) == before


def test_a_lock_that_is_a_link(archive, traces, mine):
    before = kept(mine)
    (archive / ".lock").unlink()
    (archive / ".lock").symlink_to(mine / "lock")
    with pytest.raises(ArchiveError, match=r"\.lock: this is a link, not a file; remove it"):
        hta_sql.drop(archive, jobs=["bert"])
    assert kept(mine) == before


def test_folders_of_ranks_that_are_links(archive, traces, mine):
    """Ingest replaces the rank, and deletes unnamed files of its folder, but not behind a link."""
    before = kept(mine)
    folder = archive / "events/job=llama/rank=1"
    [file] = folder.iterdir()
    shutil.move(file, mine)
    before |= {file.name: None}
    folder.rmdir()
    folder.symlink_to(mine)
    hta_sql.ingest(traces, archive, force=True, workers=1)
    hta_sql.drop(archive, jobs=["llama"])
    left = {name for name in os.listdir(mine)}
    assert {"0123456789abcdef.parquet", "lock", "deep", file.name} <= left
    assert (mine / "0123456789abcdef.parquet").read_text() == "my own"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.parquet",
        "events/job=llama/rank=0/../../../../secret.parquet",
        "/etc/passwd",
        "events/job=llama/rank=0/*.parquet",
        "events/job=bert/rank=0/x.parquet",
        "results/../x.parquet",
        "secret/job=llama/rank=0/x.parquet",
        "",
    ],
)
def test_a_manifest_that_names_other_files(archive, path):
    pq.write_table(pa.table({"secret": ["secret"]}), archive.parent / "secret.parquet")

    def change(rows: list[dict]) -> None:
        [row] = [row for row in rows if (row["job"], row["rank"]) == ("llama", 0)]
        row["files"][0]["path"] = path

    rewrite(archive, change)
    with hta_sql.open(archive) as run, pytest.raises(ArchiveError, match="no data file of it"):
        run.sql("FROM events")


def test_what_hta_duckdb_defines_is_not_run(archive, tmp_path):
    """Neither by commands nor by the shell, and not if it claims to be of this version."""
    told = tmp_path / "told"
    told.write_text("secret")
    with duckdb.connect(str(archive / "hta.duckdb")) as con:
        con.execute("CREATE OR REPLACE VIEW traces AS SELECT 'stranger' AS job, 0 AS rank")
        con.execute(
            "CREATE OR REPLACE MACRO kernel_stats_v1(only_jobs := NULL) AS TABLE "
            f"SELECT content AS stranger FROM read_text('{told}')"
        )
    with hta_sql.open(archive) as run:
        assert "stranger" not in run.kernel_stats().column_names
        assert "stranger" not in run.sql("FROM traces")["job"].to_pylist()
    for sql in ("FROM traces", "FROM kernel_stats_v1()"):
        words = [sys.executable, "-m", "hta_sql.cli", "shell", str(archive), "-c", sql]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "stranger" not in done.stdout and "secret" not in done.stdout
    hta_sql.compact(archive)  # writes it again
    with duckdb.connect(str(archive / "hta.duckdb"), read_only=True) as con:
        con.execute(f"SET file_search_path = '{archive}'")
        assert con.sql("SELECT DISTINCT job FROM traces ORDER BY job").fetchall() == [
            ("bert",),
            ("llama",),
        ]


def test_an_archive_of_a_newer_version(archive, traces):
    """It opens with a warning, and nothing writes to it."""

    def change(rows: list[dict]) -> None:
        rows[0]["schema_version"] = SCHEMA_VERSION + 1

    rewrite(archive, change)
    before = (archive / "traces.parquet").read_bytes()
    with pytest.warns(UserWarning, match="^1 trace was ingested by a newer hta_sql: .*update"):
        hta_sql.open(archive).close()
    for write in (
        lambda: hta_sql.ingest(traces, archive, force=True, workers=1),
        lambda: hta_sql.compact(archive),
        lambda: hta_sql.drop(archive, jobs=["bert"]),
        lambda: hta_sql.refresh(archive),
    ):
        with pytest.raises(
            ArchiveError, match="a newer hta_sql has written to it .* update hta_sql"
        ):
            write()
    assert (archive / "traces.parquet").read_bytes() == before
    assert len(Manifest(archive).rows()) == 5
