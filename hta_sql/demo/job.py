"""Plans a job and writes its traces and `truth.json` in one pass, step by step."""

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from hta_sql.demo.faults import Fault, named_faults, plant
from hta_sql.demo.kineto import TIME_FORMATS
from hta_sql.demo.plan import CHANGES, START_NS, Job
from hta_sql.demo.truth import JobTruth, fault_truths
from hta_sql.demo.write import TraceWriter
from hta_sql.errors import HtaSqlError

COLLECTIVE_IDS = ("comms_id", "seq", "none")
LAST_RANK = -1
STRAGGLER_SHARE = 0.20
# The profiler's window begins this long before the first event, and ends as long after the last.
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
    bottleneck: str | Sequence[str] | None = None,
    change: str | None = None,
    gzip: bool = True,
) -> list[Path]:
    """Write `rank_<r>.json[.gz]` for every rank and `truth.json` into `out`; return the traces.

    The same arguments give the same bytes. `scale` repeats the operators of a layer. A rank has
    about `steps * layers * (300 * scale + 50)` events. One step of all ranks is held in memory, so
    increase `steps` first. `ranks=1, steps=65, layers=32, scale=3` gives 2 million events.
    Each forward operator is called through `python_frames` Python functions.

    `time_format` sets how times are written: `based` (as PyTorch writes now), `based_late` (the
    base after the events, as in PyTorch 2.4 to 2.6), `absolute`, `integer` (whole µs, also in the
    plan) or `unpadded` (fractions without leading zeros). `collective_ids` sets the ids of
    collectives: `comms_id` (with Seq), `seq` or `none`. `straggler` is the rank whose kernels are
    20 % slower: by default the last if there are several ranks, None for no straggler.

    `bottleneck` names faults, in a list or with commas between them: the patterns that the query
    findings looks for, as `RULE` or, for a fault of one rank, `RULE@RANK`. The first one is the
    largest. `truth.json` then says of each fault what it names and what a step saves
    without it. Three more slow down all of a kind: `launch` (each launch takes 150 µs longer),
    `compute` (the attention kernel takes 60 times as long) and `communication` (transfers take 20
    times as long).

    `change` adds one difference from the same job without it: `slow_kernel` (the forward attention
    kernel takes 20 % longer), `inserted_op` (`aten::clone` follows the attention in every layer),
    `other_shapes` (the small matrix product of a layer has twice the rows) or `other_kernel` (the
    forward attention launches another kernel, which takes 1.5 times as long).
    """
    for name, value in (("ranks", ranks), ("steps", steps), ("layers", layers), ("scale", scale)):
        if value < 1:
            raise ValueError(f"{name} is {value}; it must be at least 1")
    if python_frames < 0:
        raise ValueError(f"python_frames is {python_frames}; it must be at least 0")
    if time_format not in TIME_FORMATS:
        raise ValueError(
            f"time_format is {time_format!r}; it must be one of {', '.join(TIME_FORMATS)}"
        )
    if collective_ids not in COLLECTIVE_IDS:
        raise ValueError(
            f"collective_ids is {collective_ids!r}; it must be one of {', '.join(COLLECTIVE_IDS)}"
        )
    names = bottleneck.split(",") if isinstance(bottleneck, str) else list(bottleneck or ())
    faults = named_faults(names, ranks, layers)
    if change not in (None, *CHANGES):
        raise ValueError(f"change is {change!r}; it must be one of {', '.join(CHANGES)}")
    if straggler == LAST_RANK:
        is_planted = "straggler" in (fault.rule for fault in faults)
        straggler = ranks - 1 if ranks > 1 and not is_planted else None
    if straggler is not None and not 0 <= straggler < ranks:
        raise ValueError(f"straggler is {straggler}; the ranks are 0 to {ranks - 1}")

    is_faulty = bool(faults)
    if straggler is not None:
        faults.append(Fault("straggler", (straggler,), STRAGGLER_SHARE))

    def job_with(faults: Sequence[Fault]) -> Job:
        return Job(
            ranks=ranks,
            steps=steps,
            layers=layers,
            seed=seed,
            scale=scale,
            python_frames=python_frames,
            change=change,
            faults=[partial(plant, fault=fault) for fault in faults],
            tick_ns=1_000 if time_format == "integer" else 1,
        )

    job = job_with(faults)
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    _remove_earlier(out)
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
        "bottleneck": ",".join(names) or None,
        "change": change,
        "gzip": gzip,
    }
    # First, so that _remove_earlier knows the files of a job that was interrupted.
    (out / "truth.json").write_text(json.dumps({"parameters": parameters}))
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
    result = truth.result(parameters, [writer.event_count for writer in writers])
    with _without_cycle_collection():
        result["faults"] = fault_truths(job, faults, job_with) if is_faulty else []
    (out / "truth.json").write_text(json.dumps(result, indent=1) + "\n")
    return paths


def _remove_earlier(out: Path) -> None:
    """Remove the traces of an earlier job in this folder; an error if demo did not write them."""
    truth = out / "truth.json"
    try:
        ranks = json.loads(truth.read_bytes())["parameters"]["ranks"]
        ours = {truth, *(out / f"rank_{r}.json{end}" for r in range(ranks) for end in ("", ".gz"))}
    except (OSError, ValueError, LookupError, TypeError):
        ours = set()
    found = [path for path in (truth, *sorted(out.glob("rank_*.json*"))) if path.exists()]
    for path in found:
        if path not in ours:
            raise HtaSqlError(f"{path}: not written by demo; give another folder")
    for path in found:
        path.unlink()


@contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """Without cycle collection, which takes a fifth of the time; records have no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
