"""How long queries take with the code of two commits, in turns, so that noise hits both alike."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from same_code import Code, Failed
from same_compare import title

# Queries with what they need and no more; of the planted jobs those that compare two.
TIMED = ("real", "ranks16", "planted")
ROUNDS = 5
TOLERATED = 1.1
# Below this a ratio tells nothing.
TOLD_FROM_S = 0.05
LIMIT_S = 120.0


@dataclass
class Side:
    """What one call took with one code, in seconds, call by call."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


@dataclass
class Times:
    """One call with both codes."""

    name: str
    old: Side = field(default_factory=Side)
    new: Side = field(default_factory=Side)

    @property
    def wall(self) -> tuple[float, float]:
        return min(self.old.wall), min(self.new.wall)

    @property
    def cpu(self) -> tuple[float, float]:
        return min(self.old.cpu), min(self.new.cpu)

    @property
    def is_slower(self) -> bool:
        """Only where both say so: wall time alone is also that of others on a busy machine."""
        ratio = min(after / max(before, 1e-6) for before, after in (self.wall, self.cpu))
        return self.wall[0] >= TOLD_FROM_S and ratio > TOLERATED


def columns(wall: tuple[float, float], cpu: tuple[float, float], name: str) -> str:
    cells = [f"{old:8.3f} {new:8.3f} {new / max(old, 1e-6):6.2f}" for old, new in (wall, cpu)]
    return f"{cells[0]}  {cells[1]}  {name}"


def report(old: Path, new: Path, archives: Path, rounds: int, only: str) -> int:
    """Print the time of every query with the code of two checkouts; how many got slower."""
    times: list[Times] = []
    print(f"wall time{'CPU time':>23}{'':>10}best of {rounds}, in seconds")
    print(f"{'before':>8} {'after':>8} {'ratio':>6}  " * 2, flush=True)
    with tempfile.TemporaryDirectory() as folder, Code(old) as before, Code(new) as after:
        copies = [Path(folder, side) for side in ("before", "after")]
        for name in TIMED:
            if not (archives / name).is_dir():
                continue
            both = []
            for code, copy in zip((before, after), copies, strict=True):
                # Each code has what it stores itself.
                both.append((code, str(shutil.copytree(archives / name, copy / name))))
                code.ask("materialize", archive=str(copy / name))
            for call in timed_calls(both[0], name):
                found = Times(title(call | {"archive": name}))
                if only not in found.name or not measure(found, call, both, rounds):
                    continue
                if found.is_slower:  # or was the machine busy?
                    measure(found, call, both, 2 * rounds)
                times.append(found)
                print(columns(found.wall, found.cpu, found.name), flush=True)
    if not times:
        raise SystemExit(f"{archives} holds nothing to time")
    slower = [found for found in times if found.is_slower]
    for found in slower:
        print(f"slower:\n{columns(found.wall, found.cpu, found.name)}")
    old_wall, new_wall, old_cpu, new_cpu = (
        sum(column) for column in zip(*((*t.wall, *t.cpu) for t in times), strict=True)
    )
    print(columns((old_wall, new_wall), (old_cpu, new_cpu), f"all {len(times)} calls"))
    print(f"{len(slower)} got slower; all together are {old_wall / new_wall:.2f} times as fast")
    return len(slower)


def timed_calls(side: tuple[Code, str], name: str) -> Iterator[dict[str, Any]]:
    code, archive = side
    for call in code.ask("calls", archive=archive, with_each_job=False):
        compares = "base_job" in call["given"]
        if call["is_first"] and (compares or name != "planted"):
            yield call


def measure(found: Times, call: dict[str, Any], both: list[tuple[Code, str]], rounds: int) -> bool:
    """Add times of so many rounds, after one that does not count; False where there are none."""
    for at in range(rounds + 1):
        # The first of two finds the caches cold: they take turns in that, too.
        sides = list(zip((found.old, found.new), both, strict=True))
        for side, (code, archive) in sides if at % 2 else reversed(sides):
            try:
                said = code.ask("timed", archive=archive, call=call, limit_s=LIMIT_S)
            except Failed as error:
                said = {"error": str(error)}
            if "error" in said:
                print(f"{found.name}: {code.checkout}: {said['error']}", flush=True)
                return False
            if at:
                side.wall.append(said["s"])
                side.cpu.append(said["cpu_s"])
    return True
