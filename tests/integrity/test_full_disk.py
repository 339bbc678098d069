"""A disk that is full at any point: the archive stays readable, and `drop` frees space."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import hta_sql
from hta_sql.errors import HtaSqlError
from hta_sql.store.verify import verify

pytestmark = pytest.mark.processes


@contextlib.contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A disk in memory, of this size."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a disk in memory")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Take all the space that is left."""
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def used(folder: Path) -> int:
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


@pytest.mark.parametrize("has_database", [True, False])
def test_drop_frees_space_on_a_full_disk(archive, tmp_path, has_database):
    """Also without hta.duckdb, whose space it takes first."""
    with disk(tmp_path / "disk", 16_000) as mounted:
        full = Path(shutil.copytree(archive, mounted / "archive"))
        if not has_database:
            (full / "hta.duckdb").unlink()
            (full / ".hta.duckdb.sha256").unlink()
        fill(mounted)
        before = used(mounted)
        assert hta_sql.drop(full, jobs=["llama"])["job"].to_pylist() == ["llama"]
        assert used(mounted) < before
        assert not list(full.glob("*/job=llama/*/*.parquet"))
        with hta_sql.open(full) as run:
            assert run.sql("SELECT DISTINCT job FROM events")["job"].to_pylist() == ["bert"]
        assert verify(full).damages == []


@pytest.mark.parametrize("kilobytes", range(60, 5_000, 700))
def test_ingest_on_a_disk_of_any_size(traces, tmp_path, kilobytes):
    """Ranks are there as a whole or not at all; with space, the next ingest adds the others."""
    with disk(tmp_path / "disk", kilobytes) as mounted:
        small = mounted / "archive"
        with contextlib.suppress(HtaSqlError, OSError):
            hta_sql.ingest(traces, small, workers=1)
        if (small / "traces.parquet").exists():
            with hta_sql.open(small) as run:
                assert run.check_tables() == []
            assert verify(small).damages == []
        subprocess.run(["mount", "-o", "remount,size=32m", str(mounted)], check=True)
        hta_sql.ingest(traces, small, workers=1)
        with hta_sql.open(small) as run:
            assert run.check_tables() == []
            assert run.sql("FROM traces").num_rows == 5
        assert not list((small / ".staging").glob("*"))
