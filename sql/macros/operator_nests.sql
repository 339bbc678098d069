-- Which call of an operator with a known cost each operator belongs to, where such calls nest.
--
-- `calls` has job, rank, event_id, op_id, has_flops and is_rerun; `ops` has job, rank, event_id and
-- op_id of every operator inside another. Operators of unknown cost are passed through.
--
-- Each computation shall count once. Of calls inside one another whose operations are known, only
-- the innermost count; a call of which only bytes are known counts where no call is inside it, and
-- none that counts around it.
--
--     aten::linear            [=====================)     does not count
--     aten::t                  [==)                       unknown cost
--     aten::addmm                  [================)     counts
--     aten::copy_                    [===)                does not: it is the addmm's
--
-- Gives one row for each call, and each operator in one: `call_id` is the innermost call at or
-- around it, `counted_id` the one that counts. For a call, also `outer_id`, the next call around
-- it, and whether it or a call around it is_rerun.
CREATE OR REPLACE MACRO operator_nests(calls, ops) AS TABLE
WITH
passed AS (
    SELECT o.job, o.rank, o.event_id, o.op_id AS next_id
    FROM query_table(ops) AS o
    ANTI JOIN query_table(calls) AS c
        ON c.job = o.job AND c.rank = o.rank AND c.event_id = o.event_id
),
owners AS MATERIALIZED (
    SELECT n.job, n.rank, n.event_id, n.reached_id AS call_id
    FROM next_outside(passed) AS n
    SEMI JOIN query_table(calls) AS c
        ON c.job = n.job AND c.rank = n.rank AND c.event_id = n.reached_id
    UNION ALL
    SELECT job, rank, event_id, event_id AS call_id FROM query_table(calls)
),
nested AS MATERIALIZED (
    SELECT c.job, c.rank, c.event_id, c.has_flops, c.is_rerun, owners.call_id AS outer_id
    FROM query_table(calls) AS c
    LEFT JOIN owners
        ON owners.job = c.job AND owners.rank = c.rank AND owners.event_id = c.op_id
),
without_flops AS (
    SELECT job, rank, event_id, outer_id AS next_id
    FROM nested
    WHERE NOT has_flops
),
not_rerun AS (
    SELECT job, rank, event_id, outer_id AS next_id
    FROM nested
    WHERE NOT is_rerun
),
-- The innermost call with operations at each, and whether it or one around it is a rerun.
at_each AS (
    SELECT
        n.job,
        n.rank,
        n.event_id,
        n.has_flops,
        n.outer_id,
        CASE WHEN n.has_flops THEN n.event_id ELSE with_flops.reached_id END AS at_id,
        n.is_rerun OR rerun.reached_id IS NOT NULL AS is_rerun
    FROM nested AS n
    LEFT JOIN next_outside(without_flops) AS with_flops
        ON with_flops.job = n.job
        AND with_flops.rank = n.rank
        AND with_flops.event_id = n.event_id
    LEFT JOIN next_outside(not_rerun) AS rerun
        ON rerun.job = n.job AND rerun.rank = n.rank AND rerun.event_id = n.event_id
),
-- And the innermost one with operations around each.
placed AS MATERIALIZED (
    SELECT a.*, outer_one.at_id AS around_id
    FROM at_each AS a
    LEFT JOIN at_each AS outer_one
        ON outer_one.job = a.job
        AND outer_one.rank = a.rank
        AND outer_one.event_id = a.outer_id
),
with_flops_inside AS (
    SELECT DISTINCT job, rank, around_id AS event_id
    FROM placed
    WHERE has_flops AND around_id IS NOT NULL
),
with_calls_inside AS (
    SELECT DISTINCT job, rank, outer_id AS event_id
    FROM placed
    WHERE outer_id IS NOT NULL
),
-- What has operations inside has none that counts around it either.
counted AS (
    SELECT
        p.job,
        p.rank,
        p.event_id,
        p.outer_id,
        p.is_rerun,
        CASE
            WHEN p.at_id IS NOT NULL AND f.event_id IS NULL THEN p.at_id
            WHEN NOT p.has_flops AND c.event_id IS NULL THEN p.event_id
        END AS counted_id
    FROM placed AS p
    LEFT JOIN with_flops_inside AS f
        ON f.job = p.job AND f.rank = p.rank AND f.event_id = p.at_id
    LEFT JOIN with_calls_inside AS c
        ON c.job = p.job AND c.rank = p.rank AND c.event_id = p.event_id
)
SELECT
    owners.job,
    owners.rank,
    owners.event_id,
    owners.call_id,
    counted.counted_id,
    counted.outer_id,
    counted.is_rerun
FROM owners
JOIN counted
    ON counted.job = owners.job
    AND counted.rank = owners.rank
    AND counted.event_id = owners.call_id;
