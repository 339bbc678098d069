-- One row: the number of steps on each side of a comparison, and whether the side has steps.
--
-- `sampled` are rows of compared_steps. A step on two ranks counts as two steps. A time divided by
-- the number of steps is therefore a time per step and rank. For a side without steps, the number
-- of steps is its number of ranks.
CREATE OR REPLACE MACRO counted_steps(sampled) AS TABLE
SELECT
    count(*) FILTER (side = 'base') AS base_steps_count,
    count(*) FILTER (side = 'test') AS test_steps_count,
    coalesce(bool_or(step IS NOT NULL) FILTER (side = 'base'), false) AS base_has_steps,
    coalesce(bool_or(step IS NOT NULL) FILTER (side = 'test'), false) AS test_has_steps
FROM query_table(sampled);
