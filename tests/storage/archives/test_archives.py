"""Traces and archives in object storage."""

import shutil
from pathlib import Path

import pytest
from storage.archives.copies import statuses, tables_of

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import HtaSqlError
from hta_sql.places.storage import place
from hta_sql.store.layout import in_job
from hta_sql.store.manifest import Manifest


def upload(fs, folder: Path, url: str) -> None:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            fs.put_file(str(file), f"{url}/{file.relative_to(folder).as_posix()}")


def download(fs, url: str, folder: Path) -> Path:
    for name in fs.find(url):
        file = folder / name.removeprefix(url.removeprefix("s3://")).lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        fs.get_file(name, str(file))
    return folder


@pytest.mark.parametrize("way", ["up", "down", "both"])
def test_traces_and_archives_are_on_disk_or_in_object_storage(
    way, traces, on_disk, bucket, fs, tmp_path
):
    source = archive = None
    if way != "up":
        upload(fs, traces, f"{bucket}/traces")
        source = f"{bucket}/traces"
    if way != "down":
        archive = f"{bucket}/archive"
    source, archive = source or traces, archive or tmp_path / "archive"
    assert statuses(hta_sql.ingest(source, archive, workers=1)) == ["ingested"] * 2
    assert tables_of(archive) == tables_of(on_disk)
    with hta_sql.open(archive) as run, hta_sql.open(on_disk) as expected:
        for query in ("temporal_breakdown", "kernel_stats", "op_stats"):
            assert run.query(query) == expected.query(query)
        paths = run.sql("SELECT path FROM traces ORDER BY path")["path"].to_pylist()
    root = f"{bucket}/traces" if source == f"{bucket}/traces" else str(traces)
    assert paths == [f"{root}/job/rank_0.json.gz", f"{root}/job/rank_1.json.gz"]


def test_objects_patterns_folders_and_files_together(traces, bucket, fs, tmp_path):
    upload(fs, traces, f"{bucket}/in")
    fs.pipe_file(f"{bucket}/in/job/.hidden/rank_3.json", b"{}")
    fs.put_file(str(traces / "job/rank_0.json.gz"), f"{bucket}/in/x/odd job/rank_0.json.gz")
    shutil.copytree(traces / "job", tmp_path / "local")
    archive = f"{bucket}/archive"
    hta_sql.ingest(
        [f"{bucket}/in/job/rank_*.json.gz", f"{bucket}/in/x/", tmp_path / "local"],
        archive,
        workers=1,
    )
    with hta_sql.open(archive) as run:
        found = run.sql("SELECT DISTINCT job, rank FROM gpu_activities ORDER BY ALL").to_pylist()
        one = run.temporal_breakdown(only_jobs=["odd job"])
    assert [tuple(row.values()) for row in found] == [
        ("job", 0),
        ("job", 1),
        ("local", 0),
        ("local", 1),
        ("odd job", 0),
    ]
    assert one["job"].to_pylist() == ["odd job"]
    summary = hta_sql.ingest(f"{bucket}/in/job/rank_1.json.gz", f"{bucket}/second", workers=1)
    assert [(outcome.job, outcome.rank) for outcome in summary.traces] == [("job", 1)]


def test_unchanged_objects_are_not_read_and_changed_ones_are(traces, bucket, fs, s3):
    url, archive = f"{bucket}/t/job/rank_0.json", f"{bucket}/archive"
    text = b'{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"%s","ts":1,"dur":2,"pid":1,"tid":1}]}'
    fs.pipe_file(url, text % b"aa")
    assert statuses(hta_sql.ingest(f"{bucket}/t", archive, workers=1)) == ["ingested"]
    before = len(s3.asked())
    assert statuses(hta_sql.ingest(f"{bucket}/t", archive, workers=1)) == ["unchanged"]
    of_trace = [line for line in s3.asked()[before:] if line.endswith("rank_0.json")]
    assert len(of_trace) < 8
    # Of the same size, and most likely in the same second.
    fs.pipe_file(url, text % b"bb")
    assert statuses(hta_sql.ingest(f"{bucket}/t", archive, workers=1)) == ["replaced"]
    with hta_sql.open(archive) as run:
        assert run.sql("SELECT name FROM events")["name"].to_pylist() == ["bb"]
    # What was replaced is gone.
    assert len(fs.find(f"{bucket}/archive/events")) == 1


def many_jobs(on_disk: Path, fs, url: str, count: int) -> None:
    """An archive of so many jobs, each with the files of the one on disk."""
    rows = Manifest(on_disk).rows()
    names = [f"job{number}" for number in range(count)]
    for file in on_disk.rglob("*.parquet"):
        inside = file.relative_to(on_disk).as_posix()
        if "job=job/" in inside:
            content = file.read_bytes()
            for name in names:
                fs.pipe_file(f"{url}/{inside.replace('job=job/', f'job={name}/')}", content)
    new = [in_job(row, name) for name in names for row in rows]
    Manifest(place(url)).add(new)


def test_requests_do_not_grow_with_the_jobs(on_disk, bucket, fs, s3):
    counted = {}
    for count in (2, 30):
        many_jobs(on_disk, fs, f"{bucket}/of{count}", count)
        with s3.requests() as counted[count]:
            with hta_sql.open(f"{bucket}/of{count}") as run:
                assert run.temporal_breakdown(only_jobs=["job1"]).num_rows == 2
    assert counted[2] == counted[30]
    assert counted[30]["HEAD"] == 0 and counted[30]["LIST"] <= 8 and counted[30]["GET"] <= 10


def test_what_was_read_is_not_asked_for_again(on_disk, bucket, fs, s3):
    upload(fs, on_disk, f"{bucket}/archive")
    with hta_sql.open(f"{bucket}/archive") as run:
        first = run.temporal_breakdown()
        run.kernel_stats(only_jobs=["job"])
        run.temporal_breakdown()
        with s3.requests() as counted:
            assert run.temporal_breakdown() == first
            run.kernel_stats(only_jobs=["job"])
        assert counted == {"GET": 2}  # whether files have moved: once a question


def test_a_file_that_no_row_names_is_not_opened(on_disk, bucket, fs, s3):
    """Of what was replaced, and is being deleted."""
    upload(fs, on_disk, f"{bucket}/archive")
    named = next(file for file in fs.find(f"{bucket}/archive/events") if "/rank=0/" in file)
    question = "SELECT count(*) FROM events WHERE args <> ''"
    with hta_sql.open(f"{bucket}/archive") as run:
        expected = run.sql(question)
    fs.cp_file(named, named.rpartition("/")[0] + "/0000.parquet")
    before = len(s3.asked())
    with hta_sql.open(f"{bucket}/archive") as run:
        assert run.sql(question) == expected
    asked = s3.asked()[before:]
    assert any(Path(named).name in line for line in asked)
    assert not any("0000.parquet" in line for line in asked)


def test_a_reader_finds_what_was_replaced_and_by_reload_what_was_added(traces, bucket):
    archive = f"{bucket}/archive"
    hta_sql.ingest(traces, archive, workers=1)
    with hta_sql.open(archive) as run:
        assert run.temporal_breakdown(only_ranks=[0])["rank"].to_pylist() == [0]
        hta_sql.ingest(traces, archive, workers=1, force=True)
        hta_sql.ingest(traces / "job/rank_0.json.gz", archive, job="new", workers=1)
        # The files that it knew of are gone; those in their place are found.
        found = run.sql("SELECT DISTINCT job, rank FROM events WHERE args <> '' ORDER BY ALL")
        assert list(zip(*found.to_pydict().values(), strict=True)) == [
            ("job", 0),
            ("job", 1),
            ("new", 0),
        ]
        hta_sql.ingest(traces / "job/rank_1.json.gz", archive, job="new", workers=1)
        run.reload()
        assert run.temporal_breakdown()["job"].to_pylist() == ["job", "job", "new", "new"]


def test_copies_up_and_down_go_on_where_they_are(traces, on_disk, bucket, fs, tmp_path):
    """As by `aws s3 cp --recursive`."""
    write_job(tmp_path / "more", ranks=1, steps=1, layers=1, seed=3)
    expected = tables_of(on_disk)
    upload(fs, on_disk, f"{bucket}/up")
    assert tables_of(f"{bucket}/up") == expected
    hta_sql.ingest(tmp_path / "more", f"{bucket}/up", workers=1)
    more = tables_of(f"{bucket}/up")
    assert {row["job"] for row in more["events"]} == {"job", "more"}
    down = download(fs, f"{bucket}/up", tmp_path / "down")
    assert tables_of(down) == more
    write_job(tmp_path / "yet", ranks=1, steps=1, layers=1, seed=4)
    hta_sql.ingest(tmp_path / "yet", down, workers=1)
    assert {row["job"] for row in tables_of(down)["events"]} == {"job", "more", "yet"}
    assert statuses(hta_sql.ingest(traces, f"{bucket}/up", workers=1)) == ["unchanged"] * 2


def test_two_archives_as_one_and_one_with_one_on_disk(traces, on_disk, bucket, tmp_path):
    write_job(tmp_path / "other", ranks=1, steps=1, layers=1)
    hta_sql.ingest(traces, f"{bucket}/a", workers=1)
    hta_sql.ingest(tmp_path / "other", f"{bucket}/b", workers=1)
    for first in (f"{bucket}/a", on_disk):
        with hta_sql.open(first, f"{bucket}/b") as run:
            found = run.temporal_breakdown().select(["job", "rank"]).to_pylist()
            assert [tuple(row.values()) for row in found] == [("job", 0), ("job", 1), ("other", 0)]
    with pytest.raises(HtaSqlError, match="given twice"):
        hta_sql.open(f"{bucket}/a", f"{bucket}/a/")
    with pytest.raises(HtaSqlError, match=r"job 'job' rank 0 is in .* and in "):
        hta_sql.open(f"{bucket}/a", on_disk)


def test_critical_paths_are_kept_there(traces, on_disk, bucket, tmp_path):
    archive = f"{bucket}/archive"
    hta_sql.ingest(traces, archive, workers=1)
    shutil.copytree(on_disk, tmp_path / "copy")
    found = []
    for where in (archive, tmp_path / "copy"):
        with hta_sql.open(where) as run:
            step = run.profiler_steps()["step"][0].as_py()
            for _ in range(2):  # the second replaces the first
                run.compute_critical_path(step=step)
            found.append([run.critical_path(), run.what_if()])
    assert found[0] == found[1]
    with hta_sql.open(archive) as run:
        assert run.critical_path() == found[0][0]
    folder = place(archive) / "path_edges"
    assert len(folder.fs.find(folder.path)) == 2
