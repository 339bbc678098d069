-- One row per GPU activity, with its times on the reference rank's clock.
--
-- `clocks`: rows of aligned_clocks, which defines the reference rank
-- `jobs`, `ranks`, `steps`: the jobs, ranks and steps of the activities (NULL: all)
--
-- Returns job, rank, kind, start_ns and end_ns. If a rank's clock is not known, start_ns and end_ns
-- stay on the rank's own clock.
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
