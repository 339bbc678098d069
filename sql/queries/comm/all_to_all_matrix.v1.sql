-- Bytes that each rank sends to each other rank in all-to-alls.
--
-- The bytes follow from the input splits of the sender's call: how many rows of its tensor go to
-- each member, in the order of the process group. Without splits, all members get equal shares.
--
-- The query cannot use a call
--   * that the archive lacks
--   * whose splits the trace cuts short (splits_cut_short in collective_audit)
--   * whose data type is unknown (unknown_dtype in collective_audit)
--
-- If the query cannot use the sender's call, the output splits of the receiver's call count
-- instead. If it cannot use the receiver's call either, the bytes from this sender to this receiver
-- are not counted.
--
-- The query leaves out all-to-alls with only one rank in the archive, and all-to-alls in groups
-- whose ranks are unknown (`ranks` in process_groups is NULL).
--
-- The bytes that a rank keeps for itself have a row, too: in this row, src_rank and dst_rank are
-- the same rank.
--
-- In a mixture of experts, a receiver with far more bytes than the others holds an overloaded
-- expert.
--
-- since: 0.1
-- grain: job, src_rank, dst_rank
-- needs: all_to_alls, ranks
-- returns:
--   job               VARCHAR  -      run of a program
--   src_rank          INTEGER  -      global rank of the sender
--   dst_rank          INTEGER  -      global rank of the receiver
--   bytes             BIGINT   bytes  bytes sent from src_rank to dst_rank
--   collective_count  BIGINT   count  all-to-alls in which src_rank sends to dst_rank
-- check: bytes >= 0 AND collective_count > 0
-- reads: collective_calls, collective_operation, dtype_sizes, groups_of_jobs, paired_members,
--   possible_splits, share_of
CREATE OR REPLACE MACRO all_to_all_matrix_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks that send or receive [default: all]
    only_steps BIGINT[] := NULL  -- steps of the all-to-alls [default: all]
) AS TABLE
WITH
members AS (
    FROM paired_members(only_jobs)
    WHERE operation = 'all_to_all' AND member_count > 1
),
groups AS (
    FROM groups_of_jobs(only_jobs)
),
split_calls AS (
    SELECT
        job,
        rank,
        event_id,
        possible_splits(in_split_sizes) AS in_splits,
        possible_splits(out_split_sizes) AS out_splits
    FROM collective_calls(only_jobs)
    WHERE collective_operation(name) = 'all_to_all'
      AND NOT coalesce(contains(in_split_sizes || out_split_sizes, '...'), false)
),
calls AS MATERIALIZED (
    SELECT
        m.job,
        m.collective_id,
        m.rank,
        m.in_nelems,
        m.out_nelems,
        c.in_splits,
        c.out_splits,
        d.element_bytes::BIGINT AS element_bytes,
        g.ranks
    FROM members AS m
    JOIN split_calls AS c ON c.job = m.job AND c.rank = m.rank AND c.event_id = m.event_id
    JOIN groups AS g ON g.group_id = m.group_id
    JOIN dtype_sizes AS d ON d.dtype = m.dtype
    WHERE g.ranks IS NOT NULL
      AND (only_steps IS NULL OR list_contains(only_steps, m.step))
),
places AS (
    SELECT *, unnest(range(1, len(ranks) + 1)) AS place
    FROM calls
),
sent AS (
    SELECT
        job,
        collective_id,
        rank AS src_rank,
        ranks[place] AS dst_rank,
        element_bytes * share_of(in_nelems, in_splits, place, len(ranks)) AS bytes
    FROM places
),
senders AS (
    SELECT DISTINCT job, collective_id, rank
    FROM calls
),
received AS (
    SELECT
        p.job,
        p.collective_id,
        p.ranks[p.place] AS src_rank,
        p.rank AS dst_rank,
        p.element_bytes * share_of(p.out_nelems, p.out_splits, p.place, len(p.ranks)) AS bytes
    FROM places AS p
    ANTI JOIN senders AS s
        ON s.job = p.job AND s.collective_id = p.collective_id AND s.rank = p.ranks[p.place]
),
shares AS (
    FROM sent
    UNION ALL
    FROM received
)
SELECT
    job,
    src_rank,
    dst_rank,
    sum(bytes)::BIGINT AS bytes,
    count(*) AS collective_count
FROM shares
WHERE bytes IS NOT NULL
  AND (
    only_ranks IS NULL
    OR list_contains(only_ranks, src_rank)
    OR list_contains(only_ranks, dst_rank)
  )
GROUP BY job, src_rank, dst_rank
ORDER BY job, src_rank, dst_rank;
