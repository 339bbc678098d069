"""What the contestants need: traces, and HTA in an environment of its own. Made once."""

import argparse
import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measure

ROOT = Path(__file__).resolve().parents[1]
# Under pandas 3 HTA 0.5.0 cannot load some traces, the small one here among them.
HTA = ("HolisticTraceAnalysis==0.5.0", "pandas<3")
HTA_ENVIRONMENT = ROOT / ".venv-hta"

# About `steps * layers * (300 * scale + 50)` events a rank; with Python's stacks, of which there
# are 36 to a layer, 2 million in "stacks", too; 60,000 in a step of "path"; 100,000 on each rank
# of "many".
JOBS: dict[str, dict[str, dict[str, Any]]] = {
    "full": {
        "one": {"ranks": 1, "steps": 65, "layers": 32, "scale": 3},
        "two": {"ranks": 2, "steps": 65, "layers": 32, "scale": 3},
        "tenth": {"ranks": 1, "steps": 33, "layers": 32, "scale": 3},
        "whole": {"ranks": 1, "steps": 330, "layers": 32, "scale": 3},
        "huge": {"ranks": 1, "steps": 325, "layers": 32, "scale": 3, "gzip": False},
        "stacks": {"ranks": 1, "steps": 25, "layers": 32, "scale": 3, "python_frames": 43},
        "path": {"ranks": 1, "steps": 3, "layers": 32, "scale": 6},
        "other": {"ranks": 1, "steps": 65, "layers": 32, "scale": 3, "seed": 1},
        "many": {"ranks": 64, "steps": 12, "layers": 9, "scale": 3},
    },
    "small": {
        "one": {"ranks": 1, "steps": 4, "layers": 16, "scale": 3},
        "two": {"ranks": 2, "steps": 2, "layers": 16, "scale": 3},
        "tenth": {"ranks": 1, "steps": 2, "layers": 16, "scale": 3},
        "whole": {"ranks": 1, "steps": 20, "layers": 16, "scale": 3},
        "huge": {"ranks": 1, "steps": 8, "layers": 16, "scale": 3, "gzip": False},
        "stacks": {"ranks": 1, "steps": 2, "layers": 16, "scale": 3, "python_frames": 43},
        "path": {"ranks": 1, "steps": 3, "layers": 8, "scale": 3},
        "other": {"ranks": 1, "steps": 4, "layers": 16, "scale": 3, "seed": 1},
        "many": {"ranks": 8, "steps": 3, "layers": 4, "scale": 1},
    },
}


@dataclass(frozen=True)
class Job:
    """The traces of a made-up job, `truth.json` beside them; equal stamps mean equal bytes."""

    folder: Path
    stamp: str

    @property
    def traces(self) -> list[Path]:
        return sorted(self.folder.glob("rank_*"))

    @property
    def bytes(self) -> int:
        return sum(trace.stat().st_size for trace in self.traces)

    @property
    def truth_file(self) -> Path:
        return self.folder / "truth.json"

    @property
    def event_counts(self) -> list[int]:
        return [rank["event_count"] for rank in self.truth["ranks"]]

    @property
    def truth(self) -> dict[str, Any]:
        return json.loads(self.truth_file.read_text())


def job(folder: Path, size: str, name: str) -> Job:
    """The traces of a job; generated unless this generator did that before."""
    parameters = JOBS[size][name]
    stamp = stamp_of(parameters)
    made = Job(folder / name, stamp)
    file = made.folder / "generator"
    if not file.is_file() or file.read_text() != stamp:
        say(f"writing the traces of job {name} ({size})")
        file.unlink(missing_ok=True)
        measure.run_child("generate", out=str(made.folder), parameters=parameters, one_core=False)
        file.write_text(stamp)
    return made


def stamp_of(parameters: dict[str, Any]) -> str:
    digest = hashlib.blake2b(json.dumps(parameters).encode(), digest_size=8)
    for source in sorted((ROOT / "hta_sql" / "demo").glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def hta_python() -> str:
    """The Python of HTA's environment, which is made if it is not there; Failed if it cannot be."""
    python = HTA_ENVIRONMENT / "bin" / "python"
    ready = HTA_ENVIRONMENT / "installed"
    wanted = " ".join(HTA)
    if not ready.is_file() or ready.read_text() != wanted:
        say(f"installing {wanted}")
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(HTA_ENVIRONMENT)],
            [str(python), "-m", "pip", "install", "--quiet", *HTA],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                lines = done.stderr.strip().splitlines() or ["no reason given"]
                raise measure.Failed(f"cannot install {wanted}: {lines[-1]}")
        ready.write_text(wanted)
    return str(python)


def add_folder(parser: argparse.ArgumentParser, below: str = "") -> None:
    """The option --data: a folder, by default `bench-data` or a folder below it."""
    folder = Path("bench-data", below)
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT / folder,
        metavar="DIR",
        help=f"where traces and archives are kept [default: {folder}]",
    )


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
