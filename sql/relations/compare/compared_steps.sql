-- One row per side (base or test), rank and step to compare, with the duration of the step.
--
-- If a side has no steps and its parameter base_steps or test_steps is NULL, the side has one row
-- per rank. This row stands for the rank's whole trace: step and step_ns are NULL.
--
-- reads: compared_sides, is_of_side, may_be_compared, steps, traces
CREATE OR REPLACE MACRO compared_steps(
    base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
) AS TABLE
WITH
sides AS MATERIALIZED (
    FROM compared_sides(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
marked AS MATERIALIZED (
    SELECT
        sides.side,
        s.job,
        s.rank,
        s.step,
        max(s.end_ns) - min(s.start_ns) AS step_ns
    FROM steps AS s
    JOIN sides ON sides.job = s.job
    WHERE may_be_compared(s.job, base_job, test_job)
      AND is_of_side(s.job, s.rank, s.step, sides.job, sides.ranks, sides.step_numbers)
    GROUP BY sides.side, s.job, s.rank, s.step
)
SELECT side, job, rank, step, step_ns
FROM marked
UNION ALL
SELECT sides.side, t.job, t.rank, NULL AS step, NULL AS step_ns
FROM traces AS t
JOIN sides ON sides.job = t.job
WHERE sides.step_numbers IS NULL
  AND (sides.ranks IS NULL OR list_contains(sides.ranks, t.rank))
  AND sides.side NOT IN (SELECT m.side FROM marked AS m);
