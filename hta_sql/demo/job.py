"""Plan a job, and write its traces and truth in one pass, step by step."""

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hta_sql.demo.kineto import TIME_FORMATS
from hta_sql.demo.plan import BOTTLENECKS, CHANGES, START_NS, Job
from hta_sql.demo.truth import JobTruth
from hta_sql.demo.write import TraceWriter

COLLECTIVE_IDS = ("comms_id", "seq", "none")
LAST_RANK = -1
# The profiler's window begins a little before the first event.
LEAD_NS = 500_000


def write_job(
    out: Path,
    *,
    ranks: int = 4,
    steps: int = 3,
    layers: int = 4,
    seed: int = 0,
    scale: int = 1,
    python_frames: int = 0,
    time_format: str = "based",
    collective_ids: str = "comms_id",
    straggler: int | None = LAST_RANK,
    bottleneck: str | None = None,
    change: str | None = None,
    gzip: bool = True,
) -> list[Path]:
    """Write `rank_<r>.json[.gz]` for every rank and `truth.json` into `out`; return the traces.

    The same arguments give the same bytes. `scale` repeats the operators of a layer: a rank has
    about `steps * layers * (300 * scale + 50)` events, and one step of all ranks is held in
    memory, so let `steps` grow first. `ranks=1, steps=65, layers=32, scale=3` gives 2 million.
    `python_frames` Python functions call each forward operator.

    `time_format`: `based` (now), `based_late` (the base after the events, PyTorch 2.4 to 2.6),
    `absolute`, `integer` (whole µs, and so is the plan), `unpadded` (fractions without leading
    zeros). `collective_ids`: `comms_id` (and Seq), `seq`, `none`. `straggler`: the rank whose
    kernels are 20 % slower; by default the last one of several; None for none. `bottleneck` plants
    one: `launch` (launching takes 150 us more), `compute` (the attention kernel 60 times as long),
    `communication` (transfers 20 times), `data_loading` (10 times).

    `change` plants one thing that is otherwise than in the same job without it: `slow_kernel` (the
    forward attention kernel takes 20 % longer), `inserted_op` (`aten::clone` follows the attention
    in every layer), `other_shapes` (the small matrix product of a layer has twice the rows),
    `other_kernel` (the forward attention launches another kernel, 1.5 times as long).
    """
    for name, value in (("ranks", ranks), ("steps", steps), ("layers", layers), ("scale", scale)):
        if value < 1:
            raise ValueError(f"{name} is {value}; it must be at least 1")
    if python_frames < 0:
        raise ValueError(f"python_frames is {python_frames}; it must be at least 0")
    if time_format not in TIME_FORMATS:
        raise ValueError(f"time_format is {time_format!r}; one of {', '.join(TIME_FORMATS)}")
    if collective_ids not in COLLECTIVE_IDS:
        raise ValueError(
            f"collective_ids is {collective_ids!r}; one of {', '.join(COLLECTIVE_IDS)}"
        )
    if bottleneck not in (None, *BOTTLENECKS):
        raise ValueError(f"bottleneck is {bottleneck!r}; one of {', '.join(BOTTLENECKS)}")
    if change not in (None, *CHANGES):
        raise ValueError(f"change is {change!r}; one of {', '.join(CHANGES)}")
    if straggler == LAST_RANK:
        straggler = ranks - 1 if ranks > 1 else None
    if straggler is not None and not 0 <= straggler < ranks:
        raise ValueError(f"straggler is {straggler}; there are ranks 0 to {ranks - 1}")

    job = Job(
        ranks=ranks,
        steps=steps,
        layers=layers,
        seed=seed,
        scale=scale,
        straggler=straggler,
        python_frames=python_frames,
        bottleneck=bottleneck,
        change=change,
        tick_ns=1_000 if time_format == "integer" else 1,
    )
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    if (out / "truth.json").exists():  # of a job that was made here before
        for stale in out.glob("rank_*.json*"):
            stale.unlink()
    paths = [out / f"rank_{r}.json{'.gz' if gzip else ''}" for r in range(ranks)]
    writers = [
        TraceWriter(path, job, rank, time_format, collective_ids)
        for path, rank in zip(paths, job.ranks, strict=True)
    ]
    truth = JobTruth(job)
    with _without_cycle_collection():
        for step in job.steps():
            for writer, records in zip(writers, step, strict=True):
                writer.write(records)
            truth.add(step, with_comms_id=collective_ids == "comms_id")
    for writer, rank in zip(writers, job.ranks, strict=True):
        writer.close(rank.clock.read(START_NS - LEAD_NS), rank.clock.read(rank.now + LEAD_NS))
    parameters = {
        "ranks": ranks,
        "steps": steps,
        "layers": layers,
        "seed": seed,
        "scale": scale,
        "python_frames": python_frames,
        "time_format": time_format,
        "collective_ids": collective_ids,
        "straggler": straggler,
        "bottleneck": bottleneck,
        "change": change,
        "gzip": gzip,
    }
    result = truth.result(parameters, [writer.event_count for writer in writers])
    (out / "truth.json").write_text(json.dumps(result, indent=1) + "\n")
    return paths


@contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """Records hold no cycles, and there are so many that searching takes a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
