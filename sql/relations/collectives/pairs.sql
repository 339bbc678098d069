-- One row per call of a collective or message, with the calls of other ranks to which it belongs.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- Archives store the rows of pairs_v1. If a column gets another meaning, the macro needs a new
-- version. Returns the columns of paired_members that do not depend on other jobs, and
--
--     group_number  as in groups_v1
--     ends          (sender + 1) * 2^20 + receiver + 1 for a message, 0 for a collective; NULL if
--                   the group is not known, or the peer of a message is not known
--
-- The collectives of a group are a lane. The messages from one sender to one receiver in a group
-- are a lane. Within a lane, calls are paired
--   1. by the profiler's `Comms Id` (comms_id), if all calls of the lane have a Comms Id
--   2. else by the profiler's `Seq` (seq), if all calls of the lane have a Seq
--   3. else by order, as order_pairs describes
--
-- Seq is the number of the call in its group. Comms Id is a hash of 64 bits and is valid only
-- within a group. One call may launch several kernels, so a Comms Id or Seq may occur several times
-- on a rank. Then the first kernel of one rank pairs with the first kernel of the other rank, the
-- second with the second, and so on.
--
-- For messages, Comms Id and Seq depend on the number of sends and receives of the rank, to all
-- peers. The send and the receive of a message have the same Comms Id and Seq only in groups of two
-- ranks. In groups of another size, messages are paired by order.
--
-- reads: call_kinds, collective_calls, collective_operation, ends_together, is_point_to_point,
--   known_groups, order_pairs, sizes_agree
CREATE OR REPLACE MACRO pairs_v1(jobs := NULL) AS TABLE
WITH
plain_kinds AS MATERIALIZED (
    FROM call_kinds(jobs)
),
groups AS MATERIALIZED (
    FROM known_groups(plain_kinds, jobs)
),
kinds_of_groups AS (
    SELECT
        row_number() OVER () AS kind_id,
        k.*,
        g.group_id,
        g.group_number,
        g.member_total,
        collective_operation(k.name) AS operation,
        is_point_to_point(operation) AS is_message,
        ends_together(operation) AS ends_together,
        CASE
            WHEN g.is_ambiguous THEN NULL
            WHEN NOT is_message THEN g.group_id << 40
            -- Ranks are below 2^20. dst_rank of a send is the receiver. src_rank of a receive is
            -- the sender.
            WHEN operation = 'send'
            THEN (g.group_id << 40) + ((k.rank + 1)::BIGINT << 20) + k.dst_rank + 1
            ELSE (g.group_id << 40) + ((k.src_rank + 1) << 20) + k.rank + 1
        END AS lane,
        CASE
            WHEN is_message THEN hash(k.dtype, greatest(k.in_nelems, k.out_nelems))
            WHEN sizes_agree(k.name) THEN hash(k.name, k.dtype, k.in_nelems, k.out_nelems)
            ELSE hash(k.name, k.dtype)
        END AS signature
    FROM plain_kinds AS k
    JOIN groups AS g
        ON g.job = k.job
        AND g.process_group IS NOT DISTINCT FROM k.process_group
        AND g.process_group_desc IS NOT DISTINCT FROM k.process_group_desc
        AND g.group_size IS NOT DISTINCT FROM k.group_size
        AND g.ranks_text IS NOT DISTINCT FROM k.ranks_text
),
kinds AS MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN lane IS NULL THEN NULL
            WHEN is_message AND member_total IS DISTINCT FROM 2 THEN 'order'
            WHEN bool_and(has_comms_id) OVER (PARTITION BY lane) THEN 'comms_id'
            WHEN bool_and(has_seq) OVER (PARTITION BY lane) THEN 'seq'
            ELSE 'order'
        END AS paired_by
    FROM kinds_of_groups
),
in_lanes AS MATERIALIZED (
    SELECT
        k.kind_id,
        k.lane,
        c.rank,
        c.event_id,
        c.device,
        c.step,
        c.start_ns,
        c.dur_ns,
        c.computed_before_ns,
        c.hidden_ns,
        c.seq,
        c.comms_id,
        k.ends_together,
        CASE k.paired_by
            WHEN 'comms_id' THEN c.comms_id
            WHEN 'seq' THEN c.seq::UBIGINT
        END AS told_key
    FROM collective_calls(jobs) AS c
    JOIN kinds AS k
        ON k.job = c.job
        AND k.rank = c.rank
        AND k.name = c.name
        AND k.process_group IS NOT DISTINCT FROM c.process_group
        AND k.process_group_desc IS NOT DISTINCT FROM c.process_group_desc
        AND k.group_size IS NOT DISTINCT FROM c.group_size
        AND k.ranks_text IS NOT DISTINCT FROM c.ranks_text
        AND k.src_rank IS NOT DISTINCT FROM c.src_rank
        AND k.dst_rank IS NOT DISTINCT FROM c.dst_rank
        AND k.dtype IS NOT DISTINCT FROM c.dtype
        AND k.in_nelems IS NOT DISTINCT FROM c.in_nelems
        AND k.out_nelems IS NOT DISTINCT FROM c.out_nelems
),
without_ids AS (
    SELECT
        c.lane,
        c.rank,
        c.event_id,
        c.step,
        c.start_ns,
        c.start_ns + c.dur_ns AS end_ns,
        k.name,
        k.signature
    FROM in_lanes AS c
    JOIN kinds AS k ON k.kind_id = c.kind_id AND k.paired_by = 'order'
),
ordered AS MATERIALIZED (
    FROM order_pairs(without_ids)
),
-- Keys with more calls than ranks: a rank has several calls with the key. Ranks are counted modulo
-- 64, so crowded may also have some keys that occur only once per rank.
crowded AS (
    SELECT lane, told_key
    FROM in_lanes
    WHERE told_key IS NOT NULL
    GROUP BY lane, told_key
    HAVING count(*) > bit_count(bit_or(1::UBIGINT << (rank % 64)::UBIGINT))
),
repeats AS MATERIALIZED (
    SELECT
        c.lane,
        c.rank,
        c.event_id,
        row_number() OVER (
            PARTITION BY c.lane, c.told_key, c.rank ORDER BY c.start_ns, c.event_id
        ) AS repeat
    FROM in_lanes AS c
    SEMI JOIN crowded ON crowded.lane = c.lane AND crowded.told_key = c.told_key
),
keyed AS NOT MATERIALIZED (
    SELECT
        c.*,
        -- For calls that are paired by order, the key is made of model_rank and model_event_id.
        coalesce(
            c.told_key, ((ordered.model_rank::BIGINT << 40) + ordered.model_event_id)::UBIGINT
        ) AS pair_key,
        coalesce(repeats.repeat, 1) AS repeat
    FROM in_lanes AS c
    LEFT JOIN ordered
        ON ordered.lane = c.lane AND ordered.rank = c.rank AND ordered.event_id = c.event_id
    LEFT JOIN repeats
        ON repeats.lane = c.lane AND repeats.rank = c.rank AND repeats.event_id = c.event_id
),
found AS (
    SELECT
        lane,
        pair_key,
        repeat,
        min(kind_id) AS kind_id,
        min(start_ns) AS first_start_ns,
        count(*) AS member_count,
        min(dur_ns) AS transfer_ns,
        bool_and(ends_together) AS ends_together
    FROM keyed
    WHERE pair_key IS NOT NULL
    GROUP BY lane, pair_key, repeat
),
together AS (
    SELECT
        f.lane,
        f.pair_key,
        f.repeat,
        row_number() OVER (
            PARTITION BY k.job ORDER BY f.first_start_ns, f.lane, f.pair_key, f.repeat
        ) AS collective_id,
        f.member_count,
        f.transfer_ns,
        f.ends_together
    FROM found AS f
    JOIN kinds AS k ON k.kind_id = f.kind_id
)
SELECT
    k.job,
    t.collective_id,
    k.group_number,
    c.lane & ((1::BIGINT << 40) - 1) AS ends,
    k.is_message,
    coalesce(t.ends_together, false) AS ends_together,
    c.rank,
    c.event_id,
    c.device,
    c.step,
    c.start_ns,
    c.dur_ns,
    c.computed_before_ns,
    c.hidden_ns,
    k.name,
    k.operation,
    k.process_group,
    k.dtype,
    k.in_nelems,
    k.out_nelems,
    c.seq,
    c.comms_id,
    k.paired_by,
    k.member_total,
    t.member_count,
    t.transfer_ns
FROM keyed AS c
JOIN kinds AS k ON k.kind_id = c.kind_id
LEFT JOIN together AS t
    ON t.lane = c.lane AND t.pair_key = c.pair_key AND t.repeat = c.repeat;
