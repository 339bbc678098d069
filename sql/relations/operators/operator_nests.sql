-- One row per operator call with a known cost, and one row per operator without a known cost inside
-- such a call.
--
-- `calls`: job, rank, event_id, op_id, shape_number, has_flops and is_rerun of the calls with a
--   known cost. has_flops: whether the operations are known, not only the bytes.
-- `ops`: job, rank, event_id and op_id of all operators that are inside another operator.
--
-- Below, `call` means a call with a known cost. Each computation should count once:
--
--   * A call with has_flops counts if no other call with has_flops is inside it.
--   * A call without has_flops counts if no call is inside it and no call that counts is around it.
--
--     aten::linear            [=====================)     does not count
--     aten::t                  [==)                       unknown cost
--     aten::addmm                  [================)     counts
--     aten::copy_                    [===)                part of aten::addmm
--
-- In this drawing, the cost of all operators but aten::t is known. Returns job, rank, event_id of
-- the operator, and:
--
--     call_id       the innermost call at or around the operator
--     counted_id    the call that counts for call_id: call_id itself or a call around it. NULL if
--                   neither call_id nor a call around it counts
--     outer_id      the next call around call_id
--     is_rerun      whether call_id or a call around it is a rerun, as in costed_calls
--     shape_number  shape of the call; NULL if the operator is not a call
CREATE OR REPLACE MACRO operator_nests(calls, ops) AS TABLE
WITH RECURSIVE
-- The operators without a known cost.
passed AS (
    SELECT o.job, o.rank, o.event_id, o.op_id
    FROM query_table(ops) AS o
    ANTI JOIN query_table(calls) AS c
        ON c.job = o.job AND c.rank = o.rank AND c.event_id = o.event_id
),
-- The call to which each of these operators belongs. The recursion goes inwards from each call and
-- stops at the next call, so that every operator is visited once.
owned AS (
    SELECT p.job, p.rank, p.event_id, c.event_id AS call_id
    FROM query_table(calls) AS c
    JOIN passed AS p ON p.job = c.job AND p.rank = c.rank AND p.op_id = c.event_id
    UNION ALL
    SELECT p.job, p.rank, p.event_id, owned.call_id
    FROM owned
    JOIN passed AS p ON p.job = owned.job AND p.rank = owned.rank AND p.op_id = owned.event_id
),
owners AS (
    SELECT job, rank, event_id, call_id FROM owned
    UNION ALL
    SELECT job, rank, event_id, event_id AS call_id FROM query_table(calls)
),
nested AS (
    SELECT
        c.job,
        c.rank,
        c.event_id,
        c.shape_number,
        c.has_flops,
        c.is_rerun,
        owners.call_id AS outer_id
    FROM query_table(calls) AS c
    LEFT JOIN owners
        ON owners.job = c.job AND owners.rank = c.rank AND owners.event_id = c.op_id
),
-- For each call: the innermost call with has_flops around it (around_id), and at or around it
-- (at_id). The recursion goes inwards from the outermost calls.
placed AS (
    SELECT
        job,
        rank,
        event_id,
        shape_number,
        has_flops,
        is_rerun,
        outer_id,
        NULL::BIGINT AS around_id,
        CASE WHEN has_flops THEN event_id END AS at_id
    FROM nested
    WHERE outer_id IS NULL
    UNION ALL
    SELECT
        n.job,
        n.rank,
        n.event_id,
        n.shape_number,
        n.has_flops,
        n.is_rerun OR placed.is_rerun AS is_rerun,
        n.outer_id,
        placed.at_id AS around_id,
        CASE WHEN n.has_flops THEN n.event_id ELSE placed.at_id END AS at_id
    FROM placed
    JOIN nested AS n
        ON n.job = placed.job AND n.rank = placed.rank AND n.outer_id = placed.event_id
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
-- counted_id of each call. A call with has_flops that has another call with has_flops inside does
-- not count. So this outer call is not the counted_id of the calls inside it either.
counted AS (
    SELECT
        p.job,
        p.rank,
        p.event_id,
        p.shape_number,
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
    counted.is_rerun,
    CASE WHEN owners.event_id = owners.call_id THEN counted.shape_number END AS shape_number
FROM owners
JOIN counted
    ON counted.job = owners.job
    AND counted.rank = owners.rank
    AND counted.event_id = owners.call_id;
