"""`hta-sql diff` and `hta_sql.compare`: two jobs wherever they are, what is said, the statuses."""

import json
import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import activity, write_archive

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.comparison.compare import METRICS, Condition, queries_of_two
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError, BadParameter, IngestError
from hta_sql.store.layout import folder_for

FLASH = "pytorch_flash::flash_fwd_kernel"


def run(*arguments: object, status: int = 0):
    done = CliRunner().invoke(cli, ["diff", *map(str, arguments)])
    assert done.exit_code == status, (done.output, done.exception)
    assert "Traceback" not in done.output
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces of a job, of it once more, and with its attention 60 times as slow; archives."""
    root = tmp_path_factory.mktemp("compared")
    for name, planted in {
        "before": {"seed": 1},
        "again": {"seed": 2},
        "slow": {"seed": 3, "bottleneck": "compute"},
    }.items():
        write_job(root / name / "llama", ranks=2, steps=3, layers=2, **planted)
        hta_sql.ingest(root / name, root / f"{name}.archive")
    hta_sql.ingest([root / "before"], root / "all", job="before")
    hta_sql.ingest([root / "slow"], root / "all", job="slow")
    return root


# Where the two sides are


@pytest.mark.parametrize(
    "base, test",
    [
        ("before.archive", "slow.archive"),
        ("before.archive::llama", "slow.archive::llama"),
        ("all::before", "all::slow"),
        ("before/llama", "slow.archive"),
        ("before", "slow"),
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
        (["nowhere", "all::slow"], "nowhere: no such archive, or folder or file of traces"),
        (["all", "all::slow"], "all has 2 jobs: write"),
        (["all::before", "all::other"], "no job 'other'; there is before, slow"),
        (["all::before", "empty"], "empty"),
    ],
)
def test_what_is_none(folder, arguments, said):
    (folder / "empty").mkdir(exist_ok=True)
    done = run(*(folder / argument for argument in arguments), status=1)
    assert said in done.stderr and done.stderr.count("\n") <= 2 and done.stdout == ""


def test_ranks_that_are_not_there(folder):
    done = run(folder / "all::before", folder / "all::slow", "--base-ranks", "0,7", status=2)
    assert "before has no rank 7; it has 0, 1" in done.stderr
    done = run(folder / "all::before", folder / "all::slow", "--test-steps", "9", status=2)
    assert "slow has no step 9; it has 0, 1, 2" in done.stderr


def test_broken_traces(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "rank_0.json").write_text("{")
    with pytest.raises(IngestError, match="no trace in it could be read|bad"):
        hta_sql.compare(tmp_path / "bad", tmp_path / "bad")


# What is said


def test_report(folder, tmp_path):
    done = run(folder / "all::before", folder / "all::slow")
    first, second, blank, headline, *_ = done.stdout.splitlines()
    assert first.startswith("base  before: 2 ranks, 3 steps, NVIDIA H100")
    assert second.startswith("test  slow: 2 ranks, 3 steps, NVIDIA H100")
    assert blank == "" and headline.startswith("A step takes ") and " longer: " in headline
    assert re.search(
        rf"^  1  {FLASH} takes [56]\d\.\d times as long a call, in aten::_flash",
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
    assert "No cause is beyond noise" in done.stdout
    assert done.stderr.count("does not hold") == 3


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


@pytest.mark.parametrize("name", queries_of_two())
def test_every_table_prints(folder, name):
    done = run(folder / "all::before", folder / "all::slow", "--table", name, "--format", "csv")
    header = [column.name for column in Catalog.load().find(name).columns]
    assert done.stdout.splitlines()[0] == ",".join(f'"{column}"' for column in header)


def test_queries_are_methods(folder):
    with hta_sql.compare(folder / "all::before", folder / "all::slow") as two:
        assert "kernel_diff" in dir(two)
        assert two.kernel_diff(short_names=True).num_rows > 5
        with pytest.raises(AttributeError, match="there is .*kernel_diff"):
            _ = two.kernel_stats
        with pytest.raises(BadParameter):
            two.kernel_diff(nothing=1)


# Conditions


@pytest.mark.parametrize(
    "text, name, is_above, limit, is_ratio",
    [
        ("step_time > 3%", "step_time", True, 0.03, True),
        ("idle>2ms", "idle", True, 2e6, False),
        (" compute < -1.5 % ", "compute", False, -0.015, True),
        ("gpu_busy > 10us", "gpu_busy", True, 1e4, False),
        ("gpu_busy > 1 s", "gpu_busy", True, 1e9, False),
    ],
)
def test_conditions(text, name, is_above, limit, is_ratio):
    assert Condition.read(text) == Condition(text, name, is_above, pytest.approx(limit), is_ratio)


@pytest.mark.parametrize(
    "text",
    [
        "step_time",
        "step_time > 3",
        "> 3%",
        "step_time >= 3%",
        "3% < step_time",
        "kernel_time > 3ms",
        "step_time > x%",
        "",
    ],
)
def test_no_conditions(folder, text):
    with pytest.raises(BadParameter):
        Condition.read(text)
    done = run(folder / "all::before", folder / "all::slow", "--fail-if", text, status=2)
    assert "--fail-if" in done.stderr and done.stdout == ""


def test_metrics_are_those_of_the_query(folder):
    sql = Catalog.load().find("step_diff").sql
    ordered = re.findall(r"list_position\(\s*\[(.*?)\]", sql, re.DOTALL)[-1]
    assert tuple(re.findall(r"'(\w+)'", ordered)) == METRICS


def test_metrics_that_are_not_there(folder):
    done = run(folder / "all::before", folder / "all::slow", "--fail-if", "speed > 3%", status=2)
    assert "there is no speed to compare, but step_time, " in done.stderr


@pytest.mark.parametrize(
    "condition, status",
    [
        ("step_time > 3%", 3),
        ("step_time > 900%", 0),
        ("step_time > 1ms", 3),
        ("step_time > 10 s", 0),
        ("step_time < -3%", 0),
        ("kernel_time > 50%", 3),
        ("transfer > 1%", 0),
        ("host_time > 1%", 0),
        ("data_loading > 1%", 0),
    ],
)
def test_exit_statuses(folder, condition, status):
    done = run(folder / "all::before", folder / "all::slow", "--fail-if", condition, status=status)
    assert f"--fail-if '{condition}' {'holds' if status else 'does not hold'}: " in done.stderr


def test_one_step_tells_nothing_of_noise(folder):
    arguments = [folder / "all::before", folder / "all::slow", "--base-steps", 1, "--test-steps", 1]
    done = run(*arguments, "--fail-if", "step_time > 3%", status=1)
    assert "cannot be told" in done.stderr and "three steps" in done.stderr
    assert "noise is unknown" in done.stdout
    assert "Take care: less than three steps hardly tell how much a step varies" in done.stdout
    run(*arguments, "--fail-if", "step_time > 900%")  # whatever the noise
    for name in ("host_time", "data_loading", "transfer"):
        run(*arguments, "--fail-if", f"{name} > 3%", status=1)


def test_a_condition_that_holds_is_said_before_one_that_cannot_be_told(folder):
    run(
        folder / "all::before",
        folder / "all::slow",
        "--base-steps",
        1,
        "--test-steps",
        1,
        "--fail-if",
        "step_time > 3%",
        "--fail-if",
        "kernel_time > 50%",
        status=3,
    )


def test_what_cannot_be_compared(folder, tmp_path):
    with hta_sql.open(folder / "all") as archive:
        rows = archive.sql("FROM traces WHERE job = 'slow'").to_pylist()
    other = tmp_path / "other"
    other.mkdir()
    for path in (folder / "all").iterdir():
        if path.is_dir() and not path.name.startswith("."):
            (other / path.name).symlink_to(path)
    pq.write_table(
        pa.Table.from_pylist([row | {"device_name": "Abacus"} for row in rows]),
        other / "traces.parquet",
    )
    done = run(folder / "all::before", other, "--fail-if", "step_time > 3%", status=1)
    assert "Not comparable: they ran on different GPUs: NVIDIA H100" in done.stdout
    assert "Error: not comparable, so no condition counts" in done.stderr
    run(folder / "all::before", other)  # to look at them is no failure


def test_without_steps_or_devices(tmp_path):
    for name, dur_ns in (("a", 10_000), ("b", 30_000)):
        write_archive(
            tmp_path / name,
            gpu_activities=[
                activity(job=name, event_id=i, start_ns=100_000 * i, dur_ns=dur_ns)
                for i in range(9)
            ],
        )
    done = run(tmp_path / "a", tmp_path / "b")
    assert "The GPU is busy for 3 times as long: 90.0 µs, now 270 µs; of one each" in done.stdout
    assert "1  gemm takes 3 times as long a call" in done.stdout
    done = run(tmp_path / "a", tmp_path / "b", "--fail-if", "step_time > 3%", status=1)
    assert "cannot be told: there are no steps" in done.stderr
    done = run(tmp_path / "a", tmp_path / "b", "--fail-if", "communication > 3%")
    assert "does not hold: neither side has any communication" in done.stderr
    host = {"cat": "cpu_op", "name": "aten::mm", "pid": "1", "tid": "1", "start_ns": 0, "dur_ns": 5}
    write_archive(tmp_path / "c", host_ops=[host | {"job": "c", "event_id": 1}])
    write_archive(tmp_path / "d", host_ops=[host | {"job": "d", "event_id": 1}])
    done = run(tmp_path / "c", tmp_path / "d")
    assert "There are no steps or GPU activities on both sides to compare." in done.stdout


def test_help_has_examples():
    done = run("--help")
    assert "Example:" in done.stdout and "Exit status" in done.stdout
