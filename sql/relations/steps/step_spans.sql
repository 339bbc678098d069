-- One row per step of a rank: job, rank, step, start_ns and step_ns.
--
-- If several threads or processes mark the same step, the step has one row, from the first start to
-- the last end.
--
--     jobs, ranks, steps  lists of the jobs, ranks and steps to return (NULL: all)
--
-- reads: steps
CREATE OR REPLACE MACRO step_spans(jobs, ranks, steps) AS TABLE
SELECT
    s.job, s.rank, s.step, min(s.start_ns) AS start_ns, max(s.end_ns) - min(s.start_ns) AS step_ns
FROM steps AS s
WHERE (jobs IS NULL OR list_contains(jobs, s.job))
  AND (ranks IS NULL OR list_contains(ranks, s.rank))
  AND (steps IS NULL OR list_contains(steps, s.step))
GROUP BY s.job, s.rank, s.step;
