"""Traces that are odd, and places that a file cannot go to."""

import os
import signal
import subprocess
import sys
import time

import orjson
import pytest
from export.conftest import invoke
from hand_written import ingested, span, trace_text

KERNEL = {"stream": 7, "device": 0, "correlation": 5}


def trace(*more: dict) -> str:
    """A call of an operator that launches a kernel, and more."""
    return trace_text(
        [
            span("aten::mm", 10, 20),
            span("cudaLaunchKernel", 12, 2, "cuda_runtime", correlation=5),
            span("gemm", 40, 10, "kernel", 0, 7, **KERNEL),
            *more,
        ],
        before='"baseTimeNanoseconds": 1776115350000000000, ',
    )


def written(tmp_path, content: str, *words) -> list[dict]:
    ingested(tmp_path, content).close()
    out = tmp_path / "out.json"
    [root] = {path.parent for path in tmp_path.rglob("traces.parquet")}
    result = invoke(*words[:1], root, out, *words[1:])
    assert result.exit_code == 0, result.output
    return orjson.loads(out.read_bytes())["traceEvents"]


def test_keys_that_end_in_an_object(tmp_path):
    event = {"ph": "b", "cat": "x", "name": "n", "pid": 1, "tid": 1, "ts": 1, "id2": {"local": "a"}}
    events = written(tmp_path, trace(event), "perfetto", "--counters", "none")
    assert [e["id2"] for e in events if e["ph"] == "b"] == [{"local": "a"}]


def test_arguments_that_are_no_object_or_no_json(tmp_path):
    odd = span("aten::add", 15, 1) | {"args": [1, 2]}
    none = (
        '"correlation": 5, "v": NaN, "w": [-Infinity, NaN, 1.5, 18446744073709551617], '
        '"said": "loss: NaN, then"'
    )
    nan = trace(odd).replace('"correlation": 5', none, 1)
    events = written(tmp_path, nan, "sequences", "--operator", "mm", "--min-length", "1")
    by_name = {event["name"]: event for event in events}
    marks = by_name["aten::mm"]["args"]["Patterns"]
    assert marks == {"gemm": 1}
    assert by_name["aten::add"]["args"] == {"Patterns": marks, "args": [1, 2]}
    call = by_name["cudaLaunchKernel"]["args"]
    assert call["v"] is None and call["w"][:3] == [None, None, 1.5]
    assert call["said"] == "loss: NaN, then"
    assert ",1.5,18446744073709551617]" in (tmp_path / "out.json").read_text()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_told(archive):
    result = invoke("perfetto", archive, "/dev/full")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "Error: /dev/full: No space left on device"


def test_standard_output_may_be_a_pipe(archive):
    command = [
        sys.executable,
        "-m",
        "hta_sql.cli",
        "export",
        "perfetto",
        str(archive),
        "/dev/stdout",
        "--only-ranks",
        "0",
    ]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["traceEvents"]


def test_a_cancelled_export_leaves_nothing(archive, tmp_path):
    out = tmp_path / "out.json"
    program = (
        "import time\n"
        "import hta_sql.export.perfetto as p\n"
        "p._Export._rank = lambda *a: (print('begun', flush=True), time.sleep(60))\n"
        "from hta_sql.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "export", "perfetto", str(archive), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout.readline() == b"begun\n"
        time.sleep(0.2)
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.iterdir()] == []


def test_no_export_into_the_archive_itself(archive):
    result = invoke("perfetto", archive, archive / "out.json")
    assert result.exit_code == 1 and "this is inside the archive" in result.stderr
