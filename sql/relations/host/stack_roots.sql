-- One row per root that belongs to the call stacks of the wanted events. A root is an outermost
-- operation of a thread.
--
-- `wanted`: rows of events_of_number.
-- `places`: rank_number and root_id of the wanted host operations.
-- `forward_places`: rank_number and root_id of their forward operators.
-- `of_rank`: the rank to read (NULL: all).
-- `only_jobs`: jobs to read (NULL: all).
--
-- A root can be called by an annotation of another thread (host_ops.caller_id). The macro returns
-- two kinds of roots:
--
--   * The root of each row of `places` and `forward_places`. If an annotation called this root, the
--     macro returns the root around the annotation instead.
--   * All roots that were called by an annotation whose own root is of the first kind.
--
-- Columns:
--
--     rank_number, root_id  the root
--     level                 number of operations around the root, across threads
--     caller_id             the annotation that called the root
--     caller_start_ns       start of that annotation
--     caller_left_ns        instant at which that annotation leaves its stack
--     root_start_ns         start of the root
--
-- The last four columns are NULL for the first kind of roots.
--
-- reads: host_ops
CREATE OR REPLACE MACRO stack_roots(wanted, places, forward_places, of_rank, only_jobs) AS TABLE
WITH
-- The roots that annotations of another thread called.
called AS MATERIALIZED (
    SELECT
        w.rank_number,
        o.event_id AS root_id,
        o.start_ns AS root_start_ns,
        caller.event_id AS caller_id,
        caller.start_ns AS caller_start_ns,
        coalesce(caller.cut_ns, caller.end_ns) AS caller_left_ns,
        caller.root_id AS outer_root_id,
        caller.depth + 1 AS level
    FROM host_ops AS o
    JOIN query_table(wanted) AS w ON w.job = o.job AND w.rank = o.rank
    JOIN host_ops AS caller
        ON caller.job = o.job AND caller.rank = o.rank AND caller.event_id = o.caller_id
    WHERE o.caller_id IS NOT NULL
      AND (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (of_rank IS NULL OR caller.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, caller.job))
),
outer_roots AS (
    SELECT DISTINCT p.rank_number, coalesce(called.outer_root_id, p.root_id) AS root_id
    FROM (
        SELECT rank_number, root_id FROM query_table(places)
        UNION ALL
        SELECT rank_number, root_id FROM query_table(forward_places)
    ) AS p
    LEFT JOIN called ON called.rank_number = p.rank_number AND called.root_id = p.root_id
)
SELECT
    called.rank_number,
    called.root_id,
    called.root_start_ns,
    called.caller_id,
    called.caller_start_ns,
    called.caller_left_ns,
    called.level
FROM called
JOIN outer_roots
    ON outer_roots.rank_number = called.rank_number
    AND outer_roots.root_id = called.outer_root_id
UNION ALL BY NAME
SELECT rank_number, root_id, 0 AS level
FROM outer_roots;
