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
class Times:
    """Seconds of one call with both codes."""

    name: str
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return min(self.new) / min(self.old)

    @property
    def is_slower(self) -> bool:
        return min(self.old) >= TOLD_FROM_S and self.ratio > TOLERATED

    def __str__(self) -> str:
        return f"{min(self.old):8.3f} {min(self.new):8.3f} {self.ratio:6.2f}  {self.name}"


def report(old: Path, new: Path, archives: Path, rounds: int, only: str) -> int:
    """Print the time of every query with the code of two checkouts; how many got slower."""
    times: list[Times] = []
    print(f"{'before':>8} {'after':>8} {'ratio':>6}  best of {rounds}, in seconds", flush=True)
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
                if found.is_slower:  # or the machine was busy: once more
                    measure(found, call, both, 2 * rounds)
                times.append(found)
                print(found, flush=True)
            shutil.rmtree(folder, ignore_errors=True)
    slower = [found for found in times if found.is_slower]
    for found in slower:
        print(f"slower: {found}")
    sums = [sum(min(found.old) for found in times), sum(min(found.new) for found in times)]
    if times:
        print(f"{sums[0]:8.3f} {sums[1]:8.3f} {sums[1] / sums[0]:6.2f}  all {len(times)} calls")
        print(f"all are {sums[0] / sums[1]:.2f} times as fast; {len(slower)} got slower")
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
        for seconds, (code, archive) in sides if at % 2 else reversed(sides):
            try:
                said = code.ask("timed", archive=archive, call=call, limit_s=LIMIT_S)
            except Failed as error:
                said = {"error": str(error)}
            if "error" in said:
                print(f"{found.name}: {code.checkout}: {said['error']}", flush=True)
                return False
            if at:
                seconds.append(said["s"])
    return True
