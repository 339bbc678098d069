"""A made-up job of three ranks, and what exports of it hold."""

import gzip
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job

RANKS, STEPS = 3, 3


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the traces `llama`, whose clocks are apart, and their `archive`."""
    folder = tmp_path_factory.mktemp("made")
    write_job(folder / "llama", ranks=RANKS, steps=STEPS, layers=2, gzip=False)
    hta_sql.ingest([folder / "llama"], folder / "archive")
    return folder


@pytest.fixture(scope="session")
def archive(made: Path) -> Path:
    return made / "archive"


@pytest.fixture(scope="session")
def source(made: Path) -> dict[int, dict]:
    """The traces themselves, by rank."""
    return {
        rank: orjson.loads((made / f"llama/rank_{rank}.json").read_bytes()) for rank in range(RANKS)
    }


@pytest.fixture(scope="session")
def truth(made: Path) -> dict:
    return orjson.loads((made / "llama/truth.json").read_bytes())


def invoke(*words):
    return CliRunner().invoke(cli, ["export", *map(str, words)])


def exported(command: str, archive: Path, out: Path, *words) -> dict:
    """What the command writes: sound JSON, and events that Perfetto can take."""
    result = invoke(command, archive, out, *words)
    assert result.exit_code == 0, result.output
    assert not list(out.parent.glob(f".{out.name}*"))
    data = gzip.decompress(out.read_bytes()) if out.suffix == ".gz" else out.read_bytes()
    trace = orjson.loads(data)
    events = trace["traceEvents"]
    assert result.stderr.splitlines()[-1] == f"{len(events):,} events in {out}"
    assert result.stdout == ""
    for event in events:
        assert event["ph"] in "XisfMC"
        assert event["ph"] == "M" or type(event["ts"]) in (int, float)
        assert event["ph"] != "X" or event["dur"] >= 0
        assert event["ph"] != "C" or all(
            type(value) in (int, float) for value in event["args"].values()
        )
    return trace


def own(trace: dict) -> list[dict]:
    """What was in the ranks' traces."""
    return [event for event in trace["traceEvents"] if event.get("cat") != "hta_sql"]


def added(trace: dict, ph: str) -> list[dict]:
    return [
        event
        for event in trace["traceEvents"]
        if event.get("cat") == "hta_sql" and event["ph"] == ph
    ]


def ns(event: dict, key: str = "ts") -> int:
    return round(event[key] * 1000)


def read_again(folder: Path, trace: Path, job: str = "llama") -> Path:
    """An archive of an export."""
    summary = hta_sql.ingest([trace], folder, job=job)
    assert not summary.failed
    with hta_sql.open(folder) as run:
        assert run.sql("SELECT DISTINCT quarantined_count AS n FROM traces").to_pylist() == [
            {"n": 0}
        ]
    return folder
