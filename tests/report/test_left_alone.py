"""Reports on archives that nobody may write to: a read-only folder, and object storage; and on a
healthy job beside one with damaged files.

The archives have no critical path, so the report computes it elsewhere.
"""

import os
from pathlib import Path

import pytest
from report.page.pages import Page

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError
from hta_sql.report import write_report

pytestmark = pytest.mark.queries


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("left-alone")
    write_job(folder, ranks=1, steps=2, layers=1)
    return folder


def pictured(archive: str | Path, out: Path) -> bool:
    """Whether a report on the archive has a critical path."""
    with hta_sql.open(archive) as run:
        assert write_report(run, out) == []
    [picture] = [figure["picture"] for figure in Page(out).figures if "picture" in figure]
    return bool(picture["windows"][0]["path"])


def test_a_folder_that_is_read_only(traces, tmp_path):
    archive = tmp_path / "archive"
    hta_sql.ingest(traces, archive, workers=1)
    places = [archive, *sorted(archive.rglob("*"))]
    modes = {place: place.stat().st_mode for place in places}
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    # A superuser may write nevertheless; then the folder's time of change tells.
    before = {place: place.stat().st_mtime_ns for place in places}
    try:
        assert pictured(archive, tmp_path / "report.html")
        after = {place: place.stat().st_mtime_ns for place in [archive, *archive.rglob("*")]}
        assert after == before
    finally:
        for place, mode in modes.items():
            os.chmod(place, mode)


def test_object_storage(s3, bucket, traces, tmp_path):
    hta_sql.ingest(traces, f"{bucket}/archive", workers=1)
    with s3.requests() as asked:
        assert pictured(f"{bucket}/archive", tmp_path / "report.html")
    assert asked["GET"] > 0 and set(asked) <= {"GET", "HEAD", "LIST"}
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"hta-sql critical-path {bucket}/archive --step" in text


def test_damaged_files_of_another_job(traces, tmp_path):
    archive = tmp_path / "archive"
    for job in ("good", "bad"):
        hta_sql.ingest(traces, archive, job=job, workers=1)
    for file in archive.glob("*/job=bad/**/*.parquet"):
        file.write_bytes(file.read_bytes()[:100])
    with hta_sql.open(archive) as run:
        assert write_report(run, tmp_path / "report.html", job="good") == []
        with pytest.raises(ArchiveError, match="damaged archive: .* of job 'bad'"):
            write_report(run, tmp_path / "report.html", job="bad")
