-- The steps `sampled`, rows of compared_steps, with numbers.
--
-- sample numbers side and step, rank_number side and rank, and rank_place the ranks of a side.
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
