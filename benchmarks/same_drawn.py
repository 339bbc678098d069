"""Traces of a job whose ranks exchange what `hta-sql demo` never does: messages from stage to stage
and back, all-to-alls that split unevenly, roots, and calls that do not fit together.
"""

import gzip
import json
import random
from pathlib import Path
from typing import Any

RANKS, STEPS, LAYERS = 6, 3, 4
START_US = 1_790_000_000_000_000.0
WORLD = list(range(RANKS))
Event = dict[str, Any]


class Job:
    """All ranks on true time: each is free at some time, and those that meet leave together."""

    def __init__(self, seed: int, with_ids: bool, with_faults: bool) -> None:
        self.drawn = random.Random(seed)
        self.with_ids, self.with_faults = with_ids, with_faults
        self.free = [START_US] * RANKS
        self.events: list[list[Event]] = [[] for _ in WORLD]
        self.seqs: dict[tuple[int, ...], int] = {}
        self.next_id = 1
        for step in range(1, STEPS + 1):
            begin = list(self.free)
            for layer in range(LAYERS):
                self.layer(layer)
            for rank in WORLD:
                span = {"ts": begin[rank], "dur": self.free[rank] - begin[rank]}
                self.host(rank, "user_annotation", f"ProfilerStep#{step}", **span)

    def layer(self, layer: int) -> None:
        for rank in WORLD:
            self.kernel(rank, "gemm_bf16", self.drawn.uniform(50, 300), stream=7)
            if rank:
                self.message(rank - 1, rank, 4096)
        splits = [self.drawn.randint(1, 9) for _ in WORLD]
        self.meet("all_to_allv", WORLD, 64 * sum(splits), splits=splits)
        self.meet("_allgather_base", WORLD[:3], 512)
        self.meet("broadcast", WORLD[3:], 2048, absent=4 if self.with_faults else None)
        for rank in reversed(WORLD[1:]):
            self.kernel(rank, "gemm_bf16_backward", self.drawn.uniform(50, 300), stream=7)
            self.message(rank, rank - 1, 4096 + layer)
        self.meet("allreduce", WORLD, 8192, differing=2 if self.with_faults else None)

    def message(self, source: int, target: int, elements: int) -> None:
        self.meet("send", [source, target], elements, ends=(source, target))

    def meet(
        self,
        name: str,
        members: list[int],
        elements: int,
        *,
        splits: list[int] | None = None,
        ends: tuple[int, int] | None = None,
        absent: int | None = None,
        differing: int | None = None,
    ) -> None:
        """Members come when they are free; all leave some time after the last one."""
        group = tuple(sorted(members))
        seq = self.seqs[group] = self.seqs.get(group, 0) + 1
        until = max(self.free[rank] for rank in members) + self.drawn.uniform(20, 60)
        for rank in members:
            if rank == absent:
                continue
            said = {
                "Collective name": name if not ends or rank == ends[0] else "recv",
                "In msg nelems": elements * (2 if rank == differing else 1),
                "Out msg nelems": elements,
                "Group size": len(group),
                "dtype": "BFloat16",
                "In split size": str(splits or []),
                "Out split size": str([splits[rank]] * len(group) if splits else []),
                "Process Group Name": "-".join(map(str, group)),
                "Process Group Description": "default_pg" if len(group) == RANKS else "mesh_pp",
                "Process Group Ranks": str(list(group)),
            }
            if ends:
                said |= {"Src Rank": ends[0], "Dst Rank": ends[1]}
            if self.with_ids:
                said |= {"Seq": seq, "Comms Id": hash((group, seq)) % 2**63}
            lasts = until - self.free[rank] + self.drawn.uniform(0, 1)
            self.kernel(rank, f"ncclDevKernel_{name}", lasts, stream=20, said=said)

    def kernel(
        self, rank: int, name: str, dur: float, *, stream: int, said: Event | None = None
    ) -> None:
        """A kernel as soon as the rank is free, with its operator and launch before it."""
        ids = {"correlation": self.next_id, "External id": self.next_id}
        self.next_id += 1
        begin = self.free[rank]
        self.host(rank, "cpu_op", f"op::{name}", ts=begin - 9, dur=6.0, args=ids)
        self.host(rank, "cuda_runtime", "cudaLaunchKernel", ts=begin - 8, dur=3.0, args=ids)
        args = {"device": rank, "stream": stream, **ids, **(said or {})}
        where = {"pid": rank, "tid": stream}
        self.add(rank, cat="kernel", name=name, ts=begin, dur=dur, args=args, **where)
        self.free[rank] = begin + dur + 10

    def host(self, rank: int, cat: str, name: str, **more: Any) -> None:
        self.add(rank, cat=cat, name=name, pid=1000 + rank, tid=1000 + rank, **more)

    def add(self, rank: int, **event: Any) -> None:
        event |= {"ph": "X", "ts": round(event["ts"], 3), "dur": round(event["dur"], 3)}
        self.events[rank].append(event)


def write_job(
    out: Path, *, seed: int = 0, with_ids: bool = True, with_faults: bool = False
) -> None:
    out.mkdir(parents=True)
    for rank, events in enumerate(Job(seed, with_ids, with_faults).events):
        told = {"rank": rank, "world_size": RANKS, "backend": "nccl"}
        text = json.dumps({"distributedInfo": told, "traceEvents": events})
        (out / f"rank_{rank}.json.gz").write_bytes(gzip.compress(text.encode(), 1, mtime=0))
