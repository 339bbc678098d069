"""The figures of all jobs, from stored results."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hta_sql.archive import Archive

# One row per job. Jobs without stored results have no figures.
OF_JOBS = """\
WITH
damaged AS (
    SELECT
        job,
        string_agg(DISTINCT split_part(status, ':', 1), ', ') AS damage,
        string_agg(concat('rank ', rank, ' is ', status), '; ' ORDER BY rank) AS damages
    FROM traces
    WHERE status <> 'complete'
    GROUP BY job
),
found AS (
    SELECT
        job,
        list(DISTINCT rule ORDER BY rule) AS rules,
        arg_max(gain_unit, estimated_gain_ns) AS gain_unit
    FROM stored_findings
    WHERE severity <> 'info'
    GROUP BY job
)
SELECT
    j.job,
    strftime(j.started_at, '%Y-%m-%d %H:%M') AS started_at,
    strftime(date_trunc('week', j.started_at), '%Y-%m-%d') AS week,
    j.tags,
    s.job IS NOT NULL AS has_results,
    coalesce(s.device_name, j.device_name) AS device_name,
    j.rank_count,
    CASE WHEN s.job IS NOT NULL THEN coalesce(w.gpu_time_ns, 0) END AS gpu_time_ns,
    s.busy_ns,
    s.compute_ns,
    w.without_compute_ns,
    w.reason,
    w.straggler_ns,
    w.communication_ns,
    w.memory_ns,
    w.host_wait_ns,
    w.launching_ns,
    w.queued_ns,
    w.kernel_wait_ns,
    w.unknown_wait_ns,
    w.outside_ns,
    -- An earlier hta_sql did not measure the time outside of the GPU's first and last activity.
    w.job IS NOT NULL AND w.outside_ns IS NULL AS is_at_most,
    -- One rank cannot wait for others.
    CASE WHEN s.lost_gpu_ns IS NOT NULL AND j.rank_count > 1 THEN w.straggler_ns END AS lost_ns,
    w.utilisation_frac,
    s.top_gain_frac,
    s.top_finding,
    s.step_p50_ns,
    t.before_ns,
    t.after_ns,
    t.diff_ratio,
    t.is_change,
    s.top_kernel,
    s.worst_rank,
    s.worst_rank_host,
    d.damage,
    d.damages,
    f.rules,
    f.gain_unit
FROM jobs AS j
LEFT JOIN stored_job_summary AS s ON s.job = j.job
LEFT JOIN low_utilisation_jobs(top_k := NULL, below := 2) AS w ON w.job = j.job
LEFT JOIN job_trend() AS t ON t.job = j.job
LEFT JOIN damaged AS d ON d.job = j.job
LEFT JOIN found AS f ON f.job = j.job
ORDER BY w.without_compute_ns DESC NULLS LAST, j.job"""
# Of each rule, the findings that are more than an info.
OF_RULES = """\
SELECT
    rule,
    count(DISTINCT job) AS job_count,
    median(estimated_gain_frac) AS median_gain_frac,
    max(estimated_gain_frac) AS largest_gain_frac,
    arg_max(job, estimated_gain_frac) AS job,
    arg_max(title, estimated_gain_frac) AS title
FROM stored_findings
WHERE severity <> 'info'
GROUP BY rule
ORDER BY job_count DESC, rule"""
# GPUs that are slow in job after job.
OF_GPUS = """\
SELECT
    host,
    local_rank,
    device_name,
    compute_ratio - 1 AS slower_frac,
    round(slow_frac * evidence_count)::BIGINT AS slow_count,
    evidence_count,
    extra_compute_ns,
    lost_gpu_ns,
    host_gpu_count,
    host_outlier_count
FROM host_outliers()
WHERE is_outlier
ORDER BY extra_compute_ns DESC, host, local_rank"""
# In the order of low_utilisation_jobs.
REASONS = (
    "straggler",
    "communication",
    "memory",
    "host_wait",
    "launching",
    "queued",
    "kernel_wait",
    "unknown_wait",
    "outside",
)


@dataclass(frozen=True)
class Jobs:
    """The columns of OF_JOBS, OF_RULES and OF_GPUS, and the archives that they are from."""

    archives: Sequence[str]
    columns: dict[str, list[Any]]
    rules: dict[str, list[Any]]
    gpus: dict[str, list[Any]]

    @staticmethod
    def of(run: Archive) -> Jobs:
        with warnings.catch_warnings():  # the page itself says which jobs have no results
            warnings.simplefilter("ignore")
            return Jobs(
                [str(root) for root in run.session.roots],
                run.sql(OF_JOBS).to_pydict(),
                run.sql(OF_RULES).to_pydict(),
                run.sql(OF_GPUS).to_pydict(),
            )

    @property
    def names(self) -> list[str]:
        return self.columns["job"]

    @property
    def without_results(self) -> int:
        return self.columns["has_results"].count(False)

    @property
    def with_results(self) -> int:
        return self.columns["has_results"].count(True)

    def total(self, column: str) -> int:
        """The sum over the jobs where it is known."""
        return sum(value for value in self.columns[column] if value is not None)
