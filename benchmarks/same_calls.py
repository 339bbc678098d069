"""What same_answers.py asks of an archive: each query as it is, and with each of its parameters."""

import re
from dataclasses import dataclass, field
from typing import Any

from same_archives import PAIRS

Given = dict[str, Any]

# What SQL finds in an archive beside queries.
TABLES = (
    "attachments",
    "bus_factors",
    "critical_paths",
    "device_peaks",
    "dtype_sizes",
    "events",
    "execution_nodes",
    "gpu_activities",
    "host_ops",
    "job_path_edges",
    "job_tags",
    "jobs",
    "memory_events",
    "path_edges",
    "quarantine",
    "steps",
    "table_counts",
    "traces",
    "what_if_times",
)
# Says where, when and by what an archive was made, which is no answer.
VOLATILE = {
    "computed_at",
    "file_id",
    "hta_sql_version",
    "ingested_at",
    "modified_ns",
    "path",
    "path_id",
    "schema_version",
    "trace_id",
    "trace_ids",
}
# Other values than the defaults, by the parameter's name: most let more through, some less. What
# is true or false by default is asked the other way round without being named here.
VALUES: dict[str, Any] = {
    "below": 1.1,
    "bucket_count": 7,
    "bucket_ns": 1_000_000,
    "by_tag": "model",
    "job_contains": "a",
    "kernel_gap_ns": 1_000,
    "launch_delay_cutoff_ns": 20_000,
    "max_queue_length": 1,
    "min_change": 0.0,
    "min_dur_ns": 10_000,
    "min_gap_ns": 5_000,
    "min_jobs": 1,
    "min_kernels": 2,
    "min_late_ns": 0,
    "min_length": 1,
    "min_score": 0.0,
    "min_slowdown": 0.0,
    "name_contains": "mm",
    "of_rank": 0,
    "of_tag": "team",
    "only_cats": ["cpu_op"],
    "only_ranks": [0],
    "base_ranks": [0],
    "test_ranks": [0],
    "peak_gbps": 1000.0,
    "peak_tflops": 100.0,
    "run_limit": 2,
    "runtime_cutoff_ns": 10_000,
    "since_day": "2025-01-01",
    "source": "host",
    "top_k": 3,
    "until_day": "2100-01-01",
    "weight": "host",
    "window_from_ns": 1_000_000,
    "window_until_ns": 5_000_000,
}


# Of which themes queries are asked with each of their parameters; all others as they are.
VARIED: dict[str, set[str]] = {
    "real": {"gpu", "host", "path", "compare"},
    "planted": {"comm", "gpu", "host", "compare"},
    "messages": {"comm"},
    "runs": {"fleet", "compare"},
}


@dataclass
class Facts:
    """What an archive holds that calls name."""

    jobs: list[str]
    step: int | None
    window: str | None
    events: list[int]
    pairs: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, run: Any, name: str) -> "Facts":
        def column(sql: str) -> list[Any]:
            return [next(iter(row.values())) for row in run.sql(sql).to_pylist()]

        jobs = column("SELECT job FROM traces GROUP BY job ORDER BY sum(event_count) DESC, job")
        steps = column("SELECT step FROM steps GROUP BY step ORDER BY count(*) DESC, step LIMIT 1")
        windows = column(
            "SELECT path_window FROM critical_paths "
            "GROUP BY path_window ORDER BY count(*) DESC, path_window LIMIT 1"
        )
        events = [
            event
            for table in ("gpu_activities", "host_ops")
            for share in (0.2, 0.6)
            for event in column(f"SELECT quantile_disc(event_id, {share}) FROM {table}")
            if event is not None
        ]
        pairs = [pair for pair in PAIRS.get(name, []) if set(pair) <= set(jobs)]
        return cls(jobs, next(iter(steps), None), next(iter(windows), None), events, pairs)

    def value(self, parameter: str, default: str | None) -> Any:
        """A value that is not the parameter's default; None where none is known."""
        if default in ("true", "false"):
            return default == "false"
        if parameter in ("only_jobs", "newest_job"):
            return self.jobs[:1] if parameter == "only_jobs" else self.jobs[-1]
        if parameter in ("only_steps", "base_steps", "test_steps"):
            return None if self.step is None else [self.step]
        if parameter == "only_windows":
            return self.window and [self.window]
        return VALUES.get(parameter)

    def required(self, parameter: str) -> list[Any]:
        known = {
            "operator": ["aten::linear", "aten::mm"],
            "of_event": self.events or [0],
            "of_name": ["aten::%"],
            "first_name": ["aten::%"],
            "second_name": ["aten::%", "%Backward%"],
        }
        return known[parameter]


def parameters_of(signature: str) -> dict[str, str | None]:
    """Names of parameters and their defaults, of `top_k INTEGER := 3, name VARCHAR`."""
    # A comma that ends a parameter is one before a name and its type.
    parts = re.split(r", (?=\w+ [A-Z]+)", signature) if signature else []
    found = [part.partition(" := ") for part in parts]
    return {head.split()[0]: default or None for head, _, default in found}


def calls_of(signature: str, facts: Facts, is_varied: bool, with_each_job: bool) -> list[Given]:
    """What a query is asked with; first comes what it needs and nothing else."""
    parameters = parameters_of(signature)
    needed: list[Given] = [{}]
    for name in (name for name, default in parameters.items() if default is None):
        needed = [given | {name: value} for given in needed for value in facts.required(name)]
    if "base_job" in parameters:
        both = [*facts.pairs, *((test, base) for base, test in facts.pairs[:1])]
        needed = [{"base_job": base, "test_job": test} for base, test in both] + [{}]
    others = [
        needed[0] | {name: value}
        for name, default in parameters.items()
        if is_varied and default and (value := facts.value(name, default)) is not None
    ]
    jobs = facts.jobs if with_each_job and "only_jobs" in parameters else []
    return [*needed, *others, *(needed[0] | {"only_jobs": [job]} for job in jobs)]
