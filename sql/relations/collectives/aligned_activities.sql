-- The GPU activities of a job's ranks and steps on the reference rank's clock.
--
-- `clocks` are rows of aligned_clocks. `jobs`, `ranks` and `steps`: those to look at (NULL: all).
-- Returns job, rank, kind, start_ns and end_ns. If a rank's clock is not known, its times stay on
-- its own clock.
--
-- reads: aligned_ns, gpu_activities
CREATE OR REPLACE MACRO aligned_activities(clocks, jobs, ranks, steps) AS TABLE
SELECT
    a.job,
    a.rank,
    a.kind,
    coalesce(aligned_ns(a.start_ns, c.local_ns, c.reference_ns, c.gain), a.start_ns) AS start_ns,
    coalesce(aligned_ns(a.end_ns, c.local_ns, c.reference_ns, c.gain), a.end_ns) AS end_ns
FROM gpu_activities AS a
LEFT JOIN query_table(clocks) AS c ON c.job = a.job AND c.rank = a.rank
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank))
  AND (steps IS NULL OR list_contains(steps, a.step));
