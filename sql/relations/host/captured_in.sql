-- One row per captured operation that fits `of_name` (is_named), or is inside one that does.
--
-- Returns job, rank, captured_id and outermost_id, the captured_id of the outermost of these.
--
-- reads: captured_ops, is_named
CREATE OR REPLACE MACRO captured_in(of_name, jobs, ranks) AS TABLE
WITH RECURSIVE
captured AS MATERIALIZED (
    SELECT
        c.job,
        c.rank,
        c.captured_id,
        c.parent_id,
        CASE WHEN is_named(c.name, of_name) THEN c.captured_id END AS own_id
    FROM captured_ops AS c
    WHERE (jobs IS NULL OR list_contains(jobs, c.job))
      AND (ranks IS NULL OR list_contains(ranks, c.rank))
      AND c.is_around
),
from_outside AS (
    SELECT job, rank, captured_id, own_id AS outermost_id
    FROM captured
    WHERE parent_id IS NULL
    UNION ALL
    SELECT
        captured.job,
        captured.rank,
        captured.captured_id,
        coalesce(from_outside.outermost_id, captured.own_id) AS outermost_id
    FROM from_outside
    JOIN captured
        ON captured.job = from_outside.job
        AND captured.rank = from_outside.rank
        AND captured.parent_id = from_outside.captured_id
)
SELECT job, rank, captured_id, outermost_id
FROM from_outside
WHERE outermost_id IS NOT NULL;
