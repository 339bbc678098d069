"""Comparisons: conditions and exit statuses."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparisons.sides import run
from written_archives import activity, write_archive

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.comparison.condition import METRICS, Condition
from hta_sql.errors import BadParameter


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
    assert "speed is not a metric; give one of step_time, " in done.stderr


@pytest.mark.queries
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


@pytest.mark.queries
def test_one_step_tells_nothing_of_noise(folder):
    arguments = [folder / "all::before", folder / "all::slow", "--base-steps", 1, "--test-steps", 1]
    done = run(*arguments, "--fail-if", "step_time > 3%", status=1)
    assert "cannot be decided" in done.stderr and "three steps" in done.stderr
    assert "noise is unknown" in done.stdout
    assert "Take care: less than three steps hardly tell how much a step varies" in done.stdout
    run(*arguments, "--fail-if", "step_time > 900%")  # whatever the noise
    for name in ("host_time", "data_loading", "transfer"):
        run(*arguments, "--fail-if", f"{name} > 3%", status=1)


@pytest.mark.queries
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


@pytest.mark.queries
def test_what_cannot_be_compared(folder, tmp_path):
    with hta_sql.open(folder / "all") as archive:
        rows = archive.sql("SELECT * EXCLUDE (files) FROM traces WHERE job = 'slow'").to_pylist()
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
    assert "Error: the jobs cannot be compared, so no condition counts" in done.stderr
    run(folder / "all::before", other)  # to look at them is no failure


@pytest.mark.queries
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
    assert "1  gemm takes 3 times as long per call" in done.stdout
    done = run(tmp_path / "a", tmp_path / "b", "--fail-if", "step_time > 3%", status=1)
    assert "cannot be decided: there are no steps" in done.stderr
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
