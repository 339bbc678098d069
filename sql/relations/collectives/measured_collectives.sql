-- One row per collective or message with at least two paired calls: its size in bytes.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `groups`: rows of groups_of_jobs
-- `jobs`: the jobs of `members` (NULL: all)
-- `ranks`: only collectives with a member in this list (NULL: all)
-- `steps`: only collectives whose step is in this list (NULL: all)
--
-- Returns job, collective_id, group_id, is_message, name, operation, dtype, step, paired_by, seq,
-- comms_id, member_count, member_total and transfer_ns as in paired_members. If the members have
-- different values, the least value counts. Messages have the name and operation send, and
-- member_total 2. Also returns
--
--     bytes         size in bytes, see below. NULL for a barrier, and if the data type or the
--                   number of elements is not known
--     bus_factor    factor that turns a bandwidth into the bandwidth of the busiest link; 1 if
--                   `bytes` leaves out the ranks' own shares; NULL in the cases below
--     is_cut_short  true for an all-to-all with splits if one of these holds: the trace cuts the
--                   splits of a member short; the place of a member in the group is not known
--
-- The splits of an all-to-all are lists of how many rows of the tensor a rank sends to, and
-- receives from, each rank. The rank's own share is what it sends to itself.
--
-- For an all-to-all with splits, `bytes` is the larger one of the bytes that a rank sends and the
-- bytes that it receives, without its own share. The rank with the most bytes counts. For all other
-- operations, and if is_cut_short is true, `bytes` is the larger one of a call's input and output,
-- with the own share. The call with the most bytes counts.
--
-- bus_factor is NULL if one of these holds:
--   * bus_factors does not have the operation.
--   * is_cut_short is true.
--   * The factor depends on member_total, and member_total is not known.
--
-- reads: bus_factors, collective_calls, collective_operation, dtype_sizes, possible_splits
CREATE OR REPLACE MACRO measured_collectives(members, groups, jobs, ranks, steps) AS TABLE
WITH
placed AS (
    SELECT
        m.job,
        m.collective_id,
        m.in_nelems,
        m.out_nelems,
        possible_splits(c.in_split_sizes) AS in_splits,
        possible_splits(c.out_split_sizes) AS out_splits,
        contains(c.in_split_sizes || c.out_split_sizes, '...') AS is_cut_short,
        g.ranks,
        list_position(g.ranks, m.rank) AS place
    FROM collective_calls(jobs) AS c
    JOIN query_table(members) AS m
        ON m.job = c.job AND m.rank = c.rank AND m.event_id = c.event_id
    JOIN query_table(groups) AS g ON g.group_id = m.group_id
    WHERE collective_operation(c.name) = 'all_to_all'
      AND c.in_split_sizes || c.out_split_sizes <> '[][]'
),
splits AS (
    SELECT
        job,
        collective_id,
        -- Splits count rows of a tensor, but in_nelems and out_nelems count elements. Without
        -- splits, all shares are equal.
        max(greatest(
            in_nelems - CASE
                WHEN len(in_splits) > 0
                THEN in_nelems::HUGEINT * in_splits[place] // greatest(1, list_sum(in_splits))
                ELSE in_nelems // len(ranks)
            END,
            out_nelems - CASE
                WHEN len(out_splits) > 0
                THEN out_nelems::HUGEINT * out_splits[place] // greatest(1, list_sum(out_splits))
                ELSE out_nelems // len(ranks)
            END
        ))::BIGINT AS nelems,
        bool_or(is_cut_short OR place IS NULL) AS is_cut_short
    FROM placed
    GROUP BY job, collective_id
),
told AS (
    SELECT
        job,
        collective_id,
        any_value(group_id) AS group_id,
        bool_or(is_message) AS is_message,
        min(CASE WHEN is_message THEN 'send' ELSE name END) AS name,
        min(CASE WHEN is_message THEN 'send' ELSE operation END) AS operation,
        min(dtype) AS dtype,
        min(step) AS step,
        any_value(paired_by) AS paired_by,
        min(seq) AS seq,
        min(comms_id) AS comms_id,
        any_value(member_count) AS member_count,
        any_value(CASE WHEN is_message THEN 2 ELSE member_total END) AS member_total,
        any_value(transfer_ns) AS transfer_ns,
        max(greatest(in_nelems, out_nelems)) AS nelems,
        bool_or(list_contains(ranks, rank)) AS has_ranks
    FROM query_table(members)
    WHERE collective_id IS NOT NULL AND member_count > 1
    GROUP BY job, collective_id
)
SELECT
    t.* EXCLUDE (nelems, has_ranks),
    CASE
        WHEN t.operation = 'barrier' THEN NULL
        WHEN s.is_cut_short THEN d.element_bytes::BIGINT * t.nelems
        ELSE d.element_bytes::BIGINT * coalesce(s.nelems, t.nelems)
    END AS bytes,
    CASE
        WHEN s.is_cut_short THEN NULL
        WHEN s.nelems IS NOT NULL THEN 1
        WHEN f.keeps_own_share THEN f.passes * (t.member_total - 1) / nullif(t.member_total, 0)
        ELSE f.passes
    END AS bus_factor,
    coalesce(s.is_cut_short, false) AS is_cut_short
FROM told AS t
LEFT JOIN splits AS s ON s.job = t.job AND s.collective_id = t.collective_id
LEFT JOIN dtype_sizes AS d ON d.dtype = t.dtype
LEFT JOIN bus_factors AS f ON f.operation = t.operation
WHERE (ranks IS NULL OR t.has_ranks)
  AND (steps IS NULL OR list_contains(steps, t.step));
