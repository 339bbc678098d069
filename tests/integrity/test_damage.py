"""Damaged files: `check --deep` names each, queries are errors, and ingest repairs what it sees."""

import os
import random
import shutil
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from integrity.damage import MANIFESTS, VISIBLE, WAYS, delete, flip, listed, overwrite, swap
from seeds import seeds

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import ArchiveError, HtaSqlError
from hta_sql.store.verify import verify

# So many damages each: `make soak` asks for more.
DAMAGES = int(os.environ.get("SOAK_DAMAGES", 6))


def names(archive: Path) -> list[str]:
    return sorted(damage.path for damage in verify(archive).damages)


# Rows per rank of the tables of traces, and a question on each kind of stored data.
QUESTIONS = {
    table: f"SELECT job, rank, count(*) AS n FROM {table} GROUP BY ALL ORDER BY ALL"
    for table in ("events", "host_ops", "gpu_activities", "quarantine", "path_edges")
} | {"kept_job_summary": "FROM stored_job_summary ORDER BY ALL"}


def counts(archive: Path) -> dict[str, list[dict]]:
    with hta_sql.open(archive) as run:
        return {table: run.sql(sql).to_pylist() for table, sql in QUESTIONS.items()}


def test_an_archive_without_damage(archive):
    done = verify(archive)
    on_disk = {
        file.relative_to(archive).as_posix()
        for file in archive.rglob("*.parquet")
        if file.parent != archive
    }
    assert set(listed(archive)) == on_disk
    assert {name.split("/")[0] for name in on_disk} >= {
        "events",
        "host_ops",
        "gpu_activities",
        "quarantine",
        "path_edges",
        "what_if_times",
        "results",
    }
    assert (done.damages, done.file_count, done.unknown_count) == ([], len(on_disk), 0)
    assert done.bytes == sum((archive / name).stat().st_size for name in on_disk)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", seeds(2))
def test_each_damaged_file_is_named_with_its_job(archive, way, seed):
    drawn = random.Random(f"{way.__name__} {seed}")
    files = listed(archive)
    kept = archive.with_name("kept")
    for _ in range(DAMAGES):
        if kept.exists():
            shutil.rmtree(archive)
            shutil.copytree(kept, archive)
        else:
            shutil.copytree(archive, kept)
        chosen = drawn.sample(sorted(files), 2 if way is not swap else 1)
        if way is swap:
            chosen = [drawn.choice([f for f in files if f.startswith("events/")])]
        for name in chosen:
            way(archive / name, drawn)
        changed = {
            name
            for name in files
            if not (archive / name).exists()
            or (archive / name).read_bytes() != (kept / name).read_bytes()
        }
        damages = {damage.path: damage for damage in verify(archive).damages}
        assert set(damages) == changed
        for name in changed:
            assert any(job in damages[name].cure for job in files[name]), damages[name]


@pytest.mark.parametrize("way", VISIBLE)
def test_a_query_is_an_error_or_as_before(archive, way):
    """Whichever file is gone: never other numbers."""
    before, files = counts(archive), listed(archive)
    kept = archive.with_name("kept")
    shutil.copytree(archive, kept)
    drawn = random.Random(way.__name__)
    for name in drawn.sample(sorted(files), min(len(files), DAMAGES)):
        way(archive / name, drawn)
        with hta_sql.open(archive) as run:
            for table, sql in QUESTIONS.items():
                try:
                    assert run.sql(sql).to_pylist() == before[table]
                    said = ""
                except ArchiveError as error:
                    said = str(error)
                if table == name.split("/")[-2 if name.startswith("results") else 0]:
                    assert said.startswith(f"damaged archive: {archive}: {name} "), said
        shutil.copy(kept / name, archive / name)
    assert counts(archive) == before


@pytest.mark.parametrize("way", VISIBLE)
def test_ingest_repairs_what_it_sees(archive, traces, way):
    before = counts(archive)
    drawn = random.Random(way.__name__)
    [file] = archive.glob("events/job=llama/rank=1/*.parquet")
    [other] = archive.glob("quarantine/job=bert/rank=0/*.parquet")
    way(file, drawn)
    way(other, drawn)
    summary = hta_sql.ingest(traces, archive, workers=1)
    replaced = {(o.job, o.rank) for o in summary.traces if o.status == "replaced"}
    assert replaced == {("llama", 1), ("bert", 0)}
    assert names(archive) == []
    after = counts(archive)
    for table in ("events", "host_ops", "gpu_activities", "quarantine"):
        assert after[table] == before[table]


def test_one_damaged_table_leaves_the_others(archive):
    """A file of `events` that is no Parquet file, of the same size: it is named by DuckDB."""
    for file in archive.glob("events/*/*/*.parquet"):
        overwrite(file, random.Random(1))
    with hta_sql.open(archive) as run:
        assert run.kernel_stats().num_rows
        with pytest.raises(ArchiveError, match="events/job=") as error:
            run.sql("SELECT count(*) FROM events WHERE job = 'x'")
    assert "\n" not in str(error.value)


def test_the_connection_for_users_is_no_way_around(archive):
    for file in archive.glob("events/job=llama/*/*.parquet"):
        file.unlink()
    with hta_sql.open(archive) as run:
        con = run.con
        assert con.execute("SELECT count(*) FROM gpu_activities").fetchall() == [
            (208,)
        ]  # 2 steps of 20 to 22, and of 20 and 21
        with pytest.raises(duckdb.Error, match=r"damaged archive: .* events/job=llama/rank=0/"):
            con.execute("SELECT count(*) FROM events")


def test_an_error_in_the_middle_of_a_file_names_it(archive):
    """DuckDB says what is wrong, but not where."""
    [file] = archive.glob("events/job=llama/rank=1/*.parquet")
    told = 0
    for seed in range(12):
        content = file.read_bytes()
        flip(file, random.Random(seed))
        with hta_sql.open(archive) as run:
            try:
                run.sql("FROM events")
            except HtaSqlError as error:
                assert f"events/job=llama/rank=1/{file.name}" in str(error)
                told += 1
        file.write_bytes(content)
    assert told


@pytest.mark.parametrize("manifest", [f"{name}.parquet" for name in MANIFESTS[:1] + MANIFESTS[2:]])
@pytest.mark.parametrize("way", [flip, overwrite, delete])
def test_a_damaged_manifest(archive, manifest, way):
    way(archive / manifest, random.Random(manifest))
    result = CliRunner().invoke(cli, ["check", "--deep", str(archive)])
    assert result.exit_code == 1 and result.exception.__class__ is SystemExit
    assert manifest in result.output
    if way is not delete:
        for command in (["sql", str(archive), "FROM traces"], ["usage", str(archive)]):
            result = CliRunner().invoke(cli, command)
            assert result.exit_code == 1 and f"{manifest} is damaged" in result.output


@pytest.mark.parametrize("with_seal", [True, False])
def test_an_archive_whose_list_of_traces_is_gone(archive, traces, with_seal):
    """A new list would have the files of all jobs deleted, as files that no row names."""
    before = set(listed(archive))
    (archive / "traces.parquet").unlink()
    if not with_seal:
        (archive / ".traces.parquet.sha256").unlink()
    for use in (
        lambda: hta_sql.open(archive),
        lambda: hta_sql.ingest(traces, archive, job="new", workers=1),
        lambda: hta_sql.compact(archive),
    ):
        with pytest.raises(ArchiveError, match="traces.parquet is gone, .* restore it from a copy"):
            use()
    assert all((archive / name).exists() for name in before)


def test_a_manifest_without_a_checksum_is_named(archive):
    (archive / ".traces.parquet.sha256").unlink()
    result = CliRunner().invoke(cli, ["check", "--deep", str(archive)])
    assert f"{archive}: traces.parquet has no checksum beside it, so it was not" in result.stderr


def test_two_jobs_of_which_one_has_stored_results(archive):
    with hta_sql.open(archive) as run:
        assert run.check("collective_diff") == []


def test_a_damaged_checksum_does_not_lock_anybody_out(archive):
    before = counts(archive)
    seal = archive / ".traces.parquet.sha256"
    for seed in range(5):
        content = seal.read_bytes()
        flip(seal, random.Random(seed))
        assert counts(archive) == before
        seal.write_bytes(content)
    seal.unlink()
    assert counts(archive) == before


def test_what_a_person_reads(archive, traces):
    [file] = archive.glob("events/job=llama/rank=1/*.parquet")
    flip(file, random.Random(1))
    result = CliRunner().invoke(cli, ["check", "--deep", str(archive)])
    name = file.relative_to(archive).as_posix()
    assert result.exit_code == 1
    first, last = result.output.splitlines()
    assert first == (
        f"{name} is not what hta_sql wrote (its checksum differs): hta-sql ingest "
        f"{traces}/llama/rank_1.json {archive} --job llama --force"
    )
    assert last.startswith(f"{archive}: ") and last.endswith("; 1 damaged")
    # The command that it names mends it.
    done = CliRunner().invoke(cli, first.partition(": hta-sql ")[2].split())
    assert done.exit_code == 0, done.output
    assert names(archive) == []


def test_compact_does_not_hide_damage(archive):
    [file] = archive.glob("events/job=llama/rank=1/*.parquet")
    flip(file, random.Random(1))
    done = hta_sql.compact(archive)
    assert [line.partition(":")[0] for line in done.left] == ["job 'llama' ranks 0 to 2"]
    assert file.name in done.left[0]
    assert names(archive) == [file.relative_to(archive).as_posix()]


def test_compact_and_export_keep_checksums(archive, tmp_path):
    hta_sql.compact(archive)
    assert list(archive.glob("events/*/ranks/*.parquet"))
    hta_sql.export_job(archive, tmp_path / "out", job="llama")
    hta_sql.import_job(tmp_path / "out", archive, job="other")
    for folder in (archive, tmp_path / "out"):
        done = verify(folder)
        assert (done.damages, done.unknown_count) == ([], 0)
        assert done.file_count == len(list(folder.glob("*/*/*/*.parquet"))) + len(
            list(folder.glob("results/*/*.parquet"))
        )
    [file] = archive.glob("events/job=other/ranks/*.parquet")
    flip(file, random.Random(2))
    with pytest.raises(
        ArchiveError, match=r"checksum differs.*it is of job 'other'; `hta-sql check"
    ):
        hta_sql.export_job(archive, tmp_path / "again", job="other")


def test_a_stray_file_is_nothing(archive):
    before = counts(archive)
    [file] = archive.glob("events/job=llama/rank=1/*.parquet")
    shutil.copy(file, file.with_name("0123456789abcdef.parquet"))
    (archive / "events/job=llama/rank=9").mkdir()
    shutil.copy(file, archive / "events/job=llama/rank=9")
    assert counts(archive) == before
    assert names(archive) == []
