-- One row per step of a rank: job, rank, step, start_ns, step_ns, step_name and marked_by.
--
-- If several threads or processes mark the same step, the step has one row, from the first start to
-- the last end.
--
--     jobs, ranks, chosen  lists of the jobs, ranks and steps to return (NULL: all)
--
-- reads: steps
CREATE OR REPLACE MACRO step_spans(jobs, ranks, chosen) AS TABLE
SELECT
    s.job,
    s.rank,
    s.step,
    min(s.start_ns) AS start_ns,
    max(s.end_ns) - min(s.start_ns) AS step_ns,
    min_by(s.step_name, (s.start_ns, s.event_id)) AS step_name,
    min(s.marked_by) AS marked_by
FROM steps AS s
WHERE (jobs IS NULL OR list_contains(jobs, s.job))
  AND (ranks IS NULL OR list_contains(ranks, s.rank))
  AND (chosen IS NULL OR list_contains(chosen, s.step))
GROUP BY s.job, s.rank, s.step;
