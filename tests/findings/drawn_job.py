"""Drawn jobs for `findings`: ranks that compute, and meet in collectives and messages."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


class DrawnJob:
    """The GPU activities and steps of a job, drawn one by one."""

    def __init__(self, job: str, ranks: int) -> None:
        self.job, self.ranks = job, ranks
        self.activities: list[Row] = []
        self.host_ops: list[Row] = []
        self.seqs = 0
        self.step: int | None = None

    def add(self, rank: int, start: int, end: int, **given: Any) -> None:
        self.activities.append(
            {
                "job": self.job,
                "rank": rank,
                "event_id": len(self.activities),
                "step": self.step,
                "start_ns": start,
                "end_ns": end,
            }
            | given
        )

    def begin_step(self, step: int, start: int, end: int) -> None:
        """All ranks begin a step."""
        self.step = step
        self.host_ops += [
            {
                "job": self.job,
                "rank": rank,
                "event_id": 10_000 + len(self.host_ops) + rank,
                "cat": "user_annotation",
                "name": f"ProfilerStep#{step}",
                "start_ns": start,
                "end_ns": end,
                "step": step,
            }
            for rank in range(self.ranks)
        ]

    def compute(self, rank: int, start: int, end: int, name: str = "gemm") -> None:
        self.add(rank, start, end, name=name)

    def meet(
        self, starts: dict[int, int], end: int, name: str = "allreduce", elements: int = 10**6
    ) -> None:
        """A collective of all ranks of the job; `starts` are those of the ranks with a trace."""
        self.seqs += 1
        for rank, start in starts.items():
            self._call(rank, start, end, name, elements, seq=self.seqs)

    def send(self, source: int, target: int, starts: tuple[int, int], end: int) -> None:
        """A message: the sender's and the receiver's start, and the end of both."""
        self._call(source, starts[0], end, "send", 10**6, dst_rank=target)
        self._call(target, starts[1], end, "recv", 10**6, src_rank=source)

    def _call(self, rank: int, start: int, end: int, name: str, elements: int, **given) -> None:
        self.add(
            rank,
            start,
            end,
            stream=20,
            kind="communication",
            name=f"ncclDevKernel_{name}",
            collective_name=name,
            dtype="Float",
            in_nelems=elements,
            out_nelems=elements,
            group_size=self.ranks,
            process_group_name="0",
            process_group_desc="default_pg",
            process_group_ranks=str(list(range(self.ranks))),
            in_split_sizes="[]",
            out_split_sizes="[]",
            **given,
        )
