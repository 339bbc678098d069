"""A made-up job of many ranks, simulated on true time, as rows of the published tables.

Nothing of hta_sql is used: who belongs with whom, who waited for whom and what clocks show follow
from the simulation. Streams: 7 computation and copies, 20 and up one for each kind of group.
"""

import random
from dataclasses import dataclass, field
from typing import Any

T0 = 1_790_000_000_000_000_000
TP, CAUSES = 4, ("computation", "copy", "host")
Row = dict[str, Any]


@dataclass
class Made:
    """`collectives`: for each one {rank: event_id}, whoever's rows were then taken away."""

    activities: list[Row] = field(default_factory=list)
    ops: list[Row] = field(default_factory=list)
    traces: list[Row] = field(default_factory=list)
    collectives: list[dict[int, int]] = field(default_factory=list)
    messages: list[tuple[int, int, int, int]] = field(default_factory=list)
    clocks: dict[int, tuple[int, int]] = field(default_factory=dict)

    def tables(self) -> dict[str, list[Row]]:
        return {"gpu_activities": self.activities, "host_ops": self.ops, "traces": self.traces}


class Simulation:
    def __init__(
        self,
        ranks=8,
        steps=3,
        layers=3,
        *,
        seed=0,
        ids="comms_id",
        clocks=True,
        jitter_ns=1500,
        straggler=None,
        cause="computation",
        slow_ns=300_000,
        with_steps=True,
        messages=False,
    ):
        self.rng = random.Random(seed)
        self.ranks, self.ids, self.jitter_ns = ranks, ids, jitter_ns
        self.straggler, self.cause, self.slow_ns = straggler, cause, slow_ns
        self.with_steps = with_steps
        self.made = Made()
        clock = random.Random(f"clock {seed}")
        for rank in range(ranks):
            offset, drift = clock.randint(-5_000_000, 5_000_000), clock.randint(-40, 40)
            self.made.clocks[rank] = (offset, drift) if clocks and rank else (0, 0)
        self.free = [{7: T0, 20: T0, 21: T0, 22: T0, 23: T0} for _ in range(ranks)]
        self.host = [T0] * ranks
        self.next_id = [0] * ranks
        self.seqs: dict[tuple, int] = {}
        self.world = tuple(range(ranks))
        self.tp = [tuple(range(i, i + TP)) for i in range(0, ranks, TP)]
        self.dp = [tuple(range(i, ranks, TP)) for i in range(TP)]
        for step in range(steps):
            self.step = step
            for layer in range(layers):
                self.layer(layer)
            for rank in range(ranks):
                self.compute(rank, "adam", 200_000)
            self.meet("allreduce", [self.world], 22, "0", "default_pg", 1000 + step, "Float")
            if messages:
                self.pass_on()
        for rank in range(ranks):
            self.made.traces.append(
                {
                    "rank": rank,
                    "host": f"node-{rank // 8}",
                    "world_size": ranks,
                    "start_ns": self.read(rank, T0),
                }
            )

    def layer(self, layer: int) -> None:
        for rank in range(self.ranks):
            slow = self.slow_ns if rank == self.straggler else 0
            if slow and self.cause == "host":
                self.load_data(rank, slow)
            if slow and self.cause == "copy":
                self.copy(rank, slow)
            extra = slow if self.cause == "computation" else 0
            self.compute(rank, "attention", 150_000)
            self.compute(rank, "gemm", 250_000 + extra)
        self.meet("allreduce", self.tp, 20, "tp", "mesh_tp", 4096 * (layer + 1))
        for rank in range(self.ranks):
            self.compute(rank, "relu", 80_000)
        self.meet("_reduce_scatter_base", self.dp, 21, "dp", "mesh_dp", 8192, size_out=True)
        self.meet("_allgather_base", self.dp, 21, "dp", "mesh_dp", 8192, size_in=True)

    def read(self, rank: int, true_ns: int) -> int:
        offset, drift = self.made.clocks[rank]
        return true_ns + offset + (true_ns - T0) * drift // 1_000_000

    def add(self, rank: int, stream: int, start: int, end: int, **given) -> Row:
        """An activity and its launch, 30 us before it can run."""
        event_id = self.next_id[rank]
        self.next_id[rank] += 3
        step = self.step if self.with_steps else None
        launch = {
            "rank": rank,
            "event_id": event_id + 1,
            "cat": "cuda_runtime",
            "step": step,
            "name": "cudaLaunchKernel",
            "start_ns": self.read(rank, self.host[rank]),
            "end_ns": self.read(rank, self.host[rank] + 4_000),
            "op_id": event_id + 2,
        }
        op = launch | {
            "event_id": event_id + 2,
            "cat": "cpu_op",
            "op_id": None,
            "name": f"aten::{given['name'].split('_')[0]}",
        }
        self.made.ops += [launch, op]
        row = {
            "rank": rank,
            "event_id": event_id,
            "stream": stream,
            "device": 0,
            "step": step,
            "start_ns": self.read(rank, start),
            "end_ns": self.read(rank, end),
            "launch_id": event_id + 1,
            "launch_pid": "1",
            "launch_tid": "1",
            "launch_start_ns": launch["start_ns"],
            "launch_end_ns": launch["end_ns"],
            "op_id": event_id + 2,
        } | given
        self.made.activities.append(row)
        self.host[rank] += 10_000
        self.free[rank][stream] = end
        return row

    def compute(self, rank: int, name: str, dur: int) -> None:
        start = max(self.free[rank].values(), default=0)
        start = max(start + 2_000, self.host[rank] + 30_000)
        dur += self.rng.randint(0, 6_000)
        self.add(rank, 7, start, start + dur, name=name, kind="computation")

    def copy(self, rank: int, dur: int) -> None:
        start = max(max(self.free[rank].values()) + 2_000, self.host[rank] + 30_000)
        self.add(rank, 7, start, start + dur, name="Memcpy HtoD", cat="gpu_memcpy", kind="memory")

    def load_data(self, rank: int, dur: int) -> None:
        """The host does something else, and launches nothing meanwhile."""
        begin = max(max(self.free[rank].values()), self.host[rank])
        event_id = self.next_id[rank]
        self.next_id[rank] += 1
        self.made.ops.append(
            {
                "rank": rank,
                "event_id": event_id,
                "cat": "user_annotation",
                "step": None,
                "name": "enumerate(DataLoader)#next",
                "start_ns": self.read(rank, begin),
                "end_ns": self.read(rank, begin + dur),
            }
        )
        self.host[rank] = begin + dur

    def meet(
        self,
        name,
        groups,
        stream,
        group_name,
        desc,
        nelems,
        dtype="BFloat16",
        size_in=False,
        size_out=False,
    ):
        for group in groups:
            seq = self.seqs[group] = self.seqs.get(group, 0) + 1
            starts = {
                rank: max(max(self.free[rank].values()) + 2_000, self.host[rank] + 30_000)
                + self.rng.randint(0, 4_000)
                for rank in group
            }
            end = max(starts.values()) + 60_000 + self.rng.randint(0, 9_000)
            n = len(group)
            ids = {
                "comms_id": {"seq": seq, "comms_id": hash_of(group, seq)},
                "seq": {"seq": seq},
                "none": {},
            }[self.ids]
            events = {}
            for rank, start in starts.items():
                row = self.add(
                    rank,
                    stream,
                    start,
                    end + self.rng.randint(0, self.jitter_ns),
                    name=f"nccl_{name}",
                    kind="communication",
                    collective_name=name,
                    dtype=dtype,
                    in_nelems=nelems // n if size_in else nelems,
                    out_nelems=nelems // n if size_out else nelems,
                    process_group_name=group_name,
                    process_group_desc=desc,
                    group_size=n,
                    process_group_ranks=ranks_text(group),
                    in_split_sizes="[]",
                    out_split_sizes="[]",
                    **ids,
                )
                events[rank] = row["event_id"]
                self.host[rank] = max(self.host[rank], start - 40_000)
            self.made.collectives.append(events)

    def pass_on(self) -> None:
        """From each rank to the next group of tensor parallelism, as stages of a pipeline do."""
        for rank in range(self.ranks - TP):
            self.send(rank, rank + TP)

    def send(self, src: int, dst: int) -> None:
        starts = {
            rank: max(max(self.free[rank].values()) + 2_000, self.host[rank] + 30_000)
            for rank in (src, dst)
        }
        end = max(starts.values()) + 30_000
        group = tuple(range(src % TP, self.ranks, TP))
        given = {
            "kind": "communication",
            "dtype": "BFloat16",
            "in_nelems": 512,
            "out_nelems": 512,
            "process_group_name": f"pp{src % TP}",
            "group_size": len(group),
            "process_group_desc": "mesh_pp",
            "process_group_ranks": ranks_text(group),
        }
        sent = self.add(
            src,
            23,
            starts[src],
            end,
            name="nccl_send",
            collective_name="send",
            dst_rank=dst,
            **given,
        )
        got = self.add(
            dst,
            23,
            starts[dst],
            end,
            name="nccl_recv",
            collective_name="recv",
            src_rank=src,
            **given,
        )
        self.made.messages.append((src, sent["event_id"], dst, got["event_id"]))


def hash_of(group: tuple[int, ...], seq: int) -> int:
    """Above 2^63, odd in its last bit."""
    return (1 << 63) | (sum(group) * 1_000_003 + group[0] * 7919 + seq) << 20 | 1


def ranks_text(group: tuple[int, ...]) -> str:
    shown = list(map(str, group))
    if len(shown) > 30:
        shown = [*shown[:29], "...", shown[-1]]
    return f"[{', '.join(shown)}]"


def make(**given) -> Made:
    return Simulation(**given).made


def without(made: Made, drop) -> Made:
    """The same without the activities for which `drop` holds; the truth loses them, too."""
    gone = {(a["rank"], a["event_id"]) for a in made.activities if drop(a)}
    kept = [a for a in made.activities if (a["rank"], a["event_id"]) not in gone]
    collectives = [
        {rank: event for rank, event in c.items() if (rank, event) not in gone}
        for c in made.collectives
    ]
    messages = [m for m in made.messages if m[:2] not in gone and m[2:] not in gone]
    return Made(kept, made.ops, made.traces, collectives, messages, made.clocks)
