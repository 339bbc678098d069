-- One row per side, rank and step, with three numbers that start at 1.
--
-- `sampled` are rows of compared_steps.
--
--     step_key     the step, or -1 for a whole trace
--     sample       number of the side and step. All ranks of a step have the same sample
--     rank_number  number of the side and rank. A rank on both sides has two numbers
--     rank_place   number of the rank within its side: 1 for the side's lowest rank, and so on
CREATE OR REPLACE MACRO numbered_steps(sampled) AS TABLE
SELECT
    side,
    job,
    rank,
    coalesce(step, -1) AS step_key,
    step_ns,
    dense_rank() OVER (ORDER BY side, coalesce(step, -1)) AS sample,
    dense_rank() OVER (ORDER BY side, job, rank) AS rank_number,
    dense_rank() OVER (PARTITION BY side ORDER BY job, rank) AS rank_place
FROM query_table(sampled);
