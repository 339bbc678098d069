"""Traces of which HTA's figures are known, and how close to them ours can be.

The figures were written by HTA 0.6.1. They are facts to compare with, not truth.
"""

import csv
import re
from typing import NamedTuple

import pytest
from raw_json import RawTrace, read
from real_files import HTA_OUTPUTS, TRACE_FILES, TRACES

needs_hta_outputs = pytest.mark.skipif(
    not (TRACES.is_dir() and HTA_OUTPUTS.is_dir()),
    reason=f"no real traces or no outputs of HTA: {TRACES}, {HTA_OUTPUTS}",
)


class Case(NamedTuple):
    folder: str  # of HTA's outputs
    job: str
    steps: tuple[int, ...] | None = None  # those that HTA kept, where it dropped anything
    last_step: bool = False  # whether it was told to keep the last one

    @property
    def in_fractions(self) -> bool:
        """Whether stamps have fractions of a us; HTA's doubles are exact where they have not."""
        return self.job in {
            "amd_mi250",
            "b200_eager",
            "h100_bert",
            "mi210_gpu_only",
            "mi300_bert",
            "mtia_inference",
            "nccl",
            "ns_resolution",
            "triton",
        }

    @property
    def instant_ns(self) -> float:
        """By how much an instant may be off in HTA's doubles of us: half of a double's step."""
        if not self.in_fractions:
            return 0
        return 125 if self.job == "ns_resolution" else 0.5  # 2^50 us since 1970, else below 2^43

    def csv(self, method: str) -> list[dict]:
        prefix = "last_step__" if self.last_step else "no_rounding/"
        with open(HTA_OUTPUTS / self.folder / f"{prefix}{method}.csv", newline="") as file:
            return list(csv.DictReader(file))

    def __str__(self) -> str:
        return self.folder + "-last_step" * self.last_step


CASES = (
    Case("alexnet", "alexnet"),
    Case("amd_mi250", "amd_mi250", (1,)),
    Case("b200_eager", "b200_eager"),
    Case("event_sync", "event_sync"),
    Case("event_sync_multi_stream", "event_sync_multi_stream"),
    Case("h100_bert", "h100_bert"),
    Case("mi210_gpu_only", "mi210_gpu_only"),
    Case("mi300_bert", "mi300_bert"),
    Case("mtia_inference", "mtia_inference"),
    Case("nccl", "nccl", (4, 5)),
    Case("ns_resolution", "ns_resolution", (101, 102, 103, 104)),
    Case("simple_add", "simple_add"),
    Case("trace_diff_control", "trace_diff/control", tuple(range(1009, 1014))),
    Case("trace_diff_control", "trace_diff/control", last_step=True),
    Case("trace_diff_test", "trace_diff/test", tuple(range(1009, 1014))),
    # 614 of its activities have no launch and so no step; HTA drops them.
    Case("trace_diff_test", "trace_diff/test", tuple(range(1009, 1015)), last_step=True),
    Case("triton", "triton"),
    Case("two_ranks", "two_ranks", (551,)),
    Case("two_ranks", "two_ranks", last_step=True),
)


def raw_trace(job: str) -> RawTrace:
    [file] = [file for file in TRACE_FILES if file.job == job]
    return read(file)


def hta_kind(name: str) -> str | None:
    """HTA's rules for names; None is its OTHER."""
    if re.match(r"nccl|hip|hccl|.*ncclKernel", name):
        return "communication"
    if re.match(r"(hip)?(Memcpy|Memset)|dma", name):
        return "memory"
    other = (
        r"nccl|.*Memcpy|.*Memset|.*dma|.*Sync|Stream Wait Event|cuda.*LaunchKernel|runFunction|"
        r"hip|job_exe|packet|pe_exe|cpum_exe_subgraph|hccl|collective_subgraph_execution"
    )
    return None if re.match(other, name) else "computation"


def hta_activities(trace: RawTrace, others_as: str | None = None) -> list[dict]:
    """What HTA takes for activities: whatever has a stream, of kinds by name."""
    rows = [
        {
            "job": trace.file.job,
            "rank": trace.file.rank,
            "device": 0,  # HTA knows none
            "event_id": span.event_id,
            "name": span.name,
            "short_name": span.name,
            "kind": hta_kind(span.name) or others_as,
            "start_ns": span.start_ns,
            "dur_ns": span.end_ns - span.start_ns,
            "end_ns": span.end_ns,
        }
        for span in trace.spans
        if span.args.get("stream", -1) != -1
    ]
    return [row for row in rows if row["kind"]]


def ours(run, query: str, case: Case, version: int | None = None) -> list[dict]:
    steps = case.steps and list(case.steps)
    return run.query(query, version, only_jobs=[case.job], only_steps=steps).to_pylist()


def close(hta_us: str, our_ns: float, within_ns: float) -> bool:
    """Whether they agree, but for what HTA's sums of doubles lose, under a thousandth of a ns."""
    return abs(float(hta_us) * 1000 - our_ns) <= within_ns + 0.001


def percentage(hta: str, frac: float | None, digits: int) -> bool:
    """Whether HTA's rounded percentage is of this fraction; none of no time."""
    if hta == "":
        return frac is None
    return frac is not None and abs(float(hta) - 100 * frac) <= 0.5 * 10**-digits + 1e-9
