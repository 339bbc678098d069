"""Diagnoses made by hand."""

from typing import Any

from hta_sql.diagnosis.job import Diagnosis, Facts, Finding, Note


def finding(**given: Any) -> Finding:
    return Finding(
        **{
            "job": "run",
            "rank": 0,
            "rule": "data_loading",
            "subject": "next",
            "severity": "high",
            "title": "The GPU waits for the data loader",
            "evidence": "The GPU is idle for 2.00 ms per step while the launching thread waits for "
            "the next batch, for 1.90 ms of it in enumerate(DataLoader).",
            "evidence_numbers": {"ranks": [0]},
            "estimated_gain_ns": 2_000_000,
            "estimated_gain_frac": 0.2,
            "gain_unit": "step",
            "gain_method": "exposed idle",
            "confidence": "high",
            "advice": "Load batches ahead: raise num_workers and prefetch_factor of the "
            "DataLoader, set pin_memory, or make the work per sample cheaper.",
            "see": "hta-sql run idle_reasons archive --top-k 20",
        }
        | given
    )


def minor(**given: Any) -> Finding:
    return finding(
        **{
            "rule": "gpu_sync",
            "severity": "info",
            "title": "aten::item makes the host wait for the GPU",
            "estimated_gain_ns": 20_000,
            "estimated_gain_frac": 0.002,
        }
        | given
    )


def note(**given: Any) -> Note:
    return Note(
        **{
            "job": "run",
            "rank": 0,
            "check": "missing_stacks",
            "severity": "info",
            "count": None,
            "share_frac": None,
            "text": "The trace has no Python functions.",
            "weakens": ["module_stats"],
        }
        | given
    )


def facts(**given: Any) -> Facts:
    """Ten milliseconds of a step: 6 of computation, 1 of communication, 3 idle."""
    return Facts(
        **{
            "job": "run",
            "rank_count": 1,
            "world_size": 1,
            "device_name": "NVIDIA H100 80GB HBM3",
            "rank": 0,
            "step_count": 5,
            "unit_ns": 10_000_000,
            "unit": "step",
            "mean_ns": 10_000_000,
            "compute_ns": 6_000_000,
            "exposed_communication_ns": 1_000_000,
            "exposed_memory_ns": 0,
            "idle_ns": 3_000_000,
            "before_first_ns": 0,
        }
        | given
    )


def split(**given: int) -> dict[str, int]:
    """The parts of facts, which are 0 if not given."""
    parts = ("compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns")
    values = {part: given.get(part, 0) for part in parts}
    return values | {"mean_ns": sum(values.values())}


def diagnosis(*findings: Finding, notes: tuple[Note, ...] = (), **given: Any) -> Diagnosis:
    return Diagnosis(facts(**given), findings, notes, "archive", True)
