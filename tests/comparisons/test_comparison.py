"""Comparisons: where the two sides are, and what is said."""

import json
import re
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparisons.sides import run
from written_archives import activity, write_archive

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.comparison.comparison import queries_of_two
from hta_sql.errors import ArchiveError, BadParameter, IngestError
from hta_sql.store.layout import folder_for

FLASH = "pytorch_flash::flash_fwd_kernel"


# Where the two sides are


@pytest.mark.parametrize(
    "base, test",
    [
        *(
            pytest.param(*pair, marks=pytest.mark.queries)
            for pair in (
                ("before.archive", "slow.archive"),
                ("before.archive::llama", "slow.archive::llama"),
                ("all::before", "all::slow"),
            )
        ),
        ("before/llama", "slow.archive"),
        pytest.param("before", "slow", marks=pytest.mark.queries),
    ],
)
def test_wherever_the_two_are(folder, base, test):
    with hta_sql.compare(folder / base, folder / test) as two:
        [cause] = two.causes
        assert (cause["cause"], FLASH in cause["name"]) == ("kernel_time", True)
        assert cause["base_calls"] == cause["test_calls"] == 2
        assert two.judge("step_time > 3%").holds is True
    with hta_sql.compare(folder / test, folder / base) as two:
        assert two.judge("step_time > 3%").holds is False
        assert two.judge("step_time < -3%").holds is True


def test_a_file_is_a_rank(folder):
    files = [folder / name / "llama" / "rank_1.json.gz" for name in ("before", "slow")]
    with hta_sql.compare(*files) as two:
        assert two.archive.sql("SELECT DISTINCT rank FROM traces")["rank"].to_pylist() == [1]
        assert [cause["cause"] for cause in two.causes] == ["kernel_time"]


def test_one_name_in_two_archives(folder):
    with hta_sql.compare(folder / "before.archive", folder / "again.archive") as two:
        jobs = two.archive.sql("SELECT DISTINCT job FROM traces ORDER BY job")["job"].to_pylist()
        assert jobs == ["llama (base)", "llama (test)"]
        one, other = (
            two.archive.sql(
                "SELECT event_id, name, dur_ns FROM host_ops WHERE job = $job ORDER BY rank, "
                "event_id",
                {"job": job},
            )
            for job in jobs
        )
    for archive, rows in (("before.archive", one), ("again.archive", other)):
        with hta_sql.open(folder / archive) as alone:
            assert rows.equals(
                alone.sql("SELECT event_id, name, dur_ns FROM host_ops ORDER BY rank, event_id")
            )


@pytest.mark.queries
def test_names_that_no_file_has(tmp_path):
    for name, dur_ns in (("a", 10), ("b", 20)):
        write_archive(tmp_path / name, gpu_activities=[activity(dur_ns=dur_ns, name=name)])
        (found,) = (tmp_path / name / "gpu_activities").iterdir()
        found.rename(found.with_name(folder_for("x/[y] *")))
        table = pq.read_table(tmp_path / name / "traces.parquet", partitioning=None)
        at = table.schema.get_field_index("job")
        table = table.set_column(at, "job", pa.array(["x/[y] *"]))
        pq.write_table(table, tmp_path / name / "traces.parquet")
    with hta_sql.compare(tmp_path / "a", tmp_path / "b") as two:
        assert [(row["name"], row["change"]) for row in two.kernel_diff().to_pylist()] == [
            ("b", "added"),
            ("a", "deleted"),
        ]


def test_nothing_is_left_behind(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(path for path in folder.rglob("*"))
    with hta_sql.compare(folder / "before/llama", folder / "again.archive"):
        assert any(tmp_path.iterdir())
    with pytest.raises(ArchiveError):
        hta_sql.compare(folder / "before/llama", folder / "nowhere")
    assert list(tmp_path.iterdir()) == []
    assert sorted(path for path in folder.rglob("*")) == before


@pytest.mark.queries
def test_ranks_and_steps_of_one_job(folder):
    job = folder / "all"
    with hta_sql.compare(f"{job}::before", f"{job}::before", base_ranks=[0], test_ranks=[0]) as two:
        assert two.causes == [] and "exactly as long" in two.headline
        assert {row["diff_count"] for row in two.op_diff().to_pylist()} == {0}
    with hta_sql.compare(f"{job}::before", f"{job}::slow", base_steps=[1], test_steps=[2]) as two:
        steps = {row["name"]: row for row in two.step_diff().to_pylist()}
        assert steps["step_time"]["base_count"] == steps["step_time"]["test_count"] == 1
    # Rank 1 is the straggler, 20 % slower.
    done = run(
        f"{job}::before",
        f"{job}::before",
        "--base-ranks",
        0,
        "--test-ranks",
        1,
        "--format",
        "json",
        "--table",
        "kernel_diff",
    )
    slower = [
        row["test_mean_ns"] / row["base_mean_ns"]
        for row in json.loads(done.stdout)
        if row["kind"] == "computation"
    ]
    assert all(1.1 < ratio < 1.3 for ratio in slower) and slower


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["nowhere", "all::slow"], "nowhere: no such file or folder; give an archive or traces"),
        (["all", "all::slow"], "all has 2 jobs (before, slow); choose one with "),
        (["all::before", "empty"], "empty"),
    ],
)
def test_what_is_none(folder, arguments, said):
    (folder / "empty").mkdir(exist_ok=True)
    done = run(*(folder / argument for argument in arguments), status=1)
    assert said in done.stderr and done.stderr.count("\n") <= 2 and done.stdout == ""


def test_a_job_that_is_not_there(folder):
    done = run(folder / "all::before", folder / "all::slov", status=2)
    assert "all has no job 'slov'; did you mean 'slow'? its jobs are 'bef" in done.stderr


def test_ranks_that_are_not_there(folder):
    done = run(folder / "all::before", folder / "all::slow", "--base-ranks", "0,7", status=2)
    assert "job 'before' has no rank 7; its ranks are 0, 1" in done.stderr
    done = run(folder / "all::before", folder / "all::slow", "--test-steps", "9", status=2)
    assert "job 'slow' has no step 9; its steps are 0 to 2" in done.stderr


@pytest.mark.queries
def test_broken_traces(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "rank_0.json").write_text("{")
    with pytest.raises(IngestError, match="none of its traces could be read|bad"):
        hta_sql.compare(tmp_path / "bad", tmp_path / "bad")


# What is said


@pytest.mark.queries
def test_report(folder, tmp_path):
    done = run(folder / "all::before", folder / "all::slow")
    first, second, blank, headline, *_ = done.stdout.splitlines()
    assert first.startswith("base  before: 2 ranks, 3 steps, NVIDIA H100")
    assert second.startswith("test  slow: 2 ranks, 3 steps, NVIDIA H100")
    assert blank == "" and headline.startswith("A step takes ") and " longer: " in headline
    assert re.search(
        rf"^  1  {FLASH} takes [56]\d\.\d times as long per call, in aten::_flash",
        done.stdout,
        re.MULTILINE,
    )
    assert "Not comparable" not in done.stdout and "Take care" not in done.stdout
    run(folder / "all::before", folder / "all::slow", "-o", tmp_path / "report.txt")
    assert (tmp_path / "report.txt").read_text() == done.stdout


def test_nothing_changed(folder):
    done = run(
        folder / "all::before",
        folder / "again.archive",
        "--fail-if",
        "step_time > 3%",
        "--fail-if",
        "kernel_time > 5%",
        "--fail-if",
        "compute > 100us",
    )
    assert "within noise of" in done.stdout
    assert "No operator, shape, kernel or collective changed beyond noise." in done.stdout
    assert done.stderr.count("does not hold") == 3


@pytest.mark.queries
def test_json_has_every_table(folder):
    done = run(
        folder / "all::before",
        folder / "all::slow",
        "--format",
        "json",
        "--fail-if",
        "step_time > 3%",
        status=3,
    )
    found = json.loads(done.stdout)
    assert found["is_comparable"] is True and found["reasons"] == {"prevents": [], "weakens": []}
    assert found["conditions"][0]["holds"] is True
    assert set(queries_of_two()) - set(found) == {"op_alignment"}
    with hta_sql.open(folder / "all") as archive:
        for name in set(queries_of_two()) - {"op_alignment", "diff_causes"}:
            rows = archive.query(name, base_job="before", test_job="slow").to_pylist()
            assert json.loads(json.dumps(rows)) == found[name], name


@pytest.mark.queries
@pytest.mark.parametrize("name", queries_of_two())
def test_every_table_prints(folder, name):
    done = run(folder / "all::before", folder / "all::slow", "--table", name, "--format", "csv")
    header = [column.name for column in Catalog.load().find(name).columns]
    assert done.stdout.splitlines()[0] == ",".join(f'"{column}"' for column in header)


def test_queries_are_methods(folder):
    with hta_sql.compare(folder / "all::before", folder / "all::slow") as two:
        assert "kernel_diff" in dir(two)
        assert two.kernel_diff(short_names=True).num_rows > 5
        with pytest.raises(AttributeError, match="there are .*kernel_diff"):
            _ = two.kernel_stats
        with pytest.raises(BadParameter):
            two.kernel_diff(nothing=1)
