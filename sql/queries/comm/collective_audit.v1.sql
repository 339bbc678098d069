-- Faults in pairing collectives and messages across ranks, one row per fault.
--
-- The column `reason` has the kind of fault:
--
--     missing_rank       the rank has a trace that covers the time of these
--                        calls, but the trace does not have these calls
--     extra_call         only this rank has these calls, and two or more
--                        ranks lack them, whose traces cover the time
--     cut_by_window      the rank's recording began after these calls or
--                        ended before them, or has no GPU activity
--     other_name         the rank gives a name that differs from the name
--                        that most members give
--     other_dtype        the rank gives a data type that differs from the
--                        data type that most members give
--     other_size         the rank gives a size that differs from the size
--                        that most members give; only for operations whose
--                        members have to give the same size
--     out_of_order       the rank ran these calls after a call with a higher
--                        Seq
--     trace_missing      some members have no trace in the archive; other
--                        members may have waited for them
--     not_paired         the calls have no ids, and their order does not fit
--                        the order on any other rank
--     unknown_peer       the sends or receives name no peer
--     unknown_members    the trace does not give the ranks of the group, and
--                        it gives either no size of the group or a size that
--                        is smaller than the number of ranks with calls
--     unknown_dtype      the trace gives no data type, or one of unknown
--                        size: bytes and bandwidths are NULL
--     unknown_operation  the operation of the collective is not known: its
--                        bus bandwidth is NULL, and clock_offsets,
--                        stragglers and straggler_blame do not use it
--     splits_cut_short   the trace cuts the splits of all-to-alls short: bus
--                        bandwidth is NULL
--
-- For other_name, other_dtype and other_size, two values may be equally frequent among the members.
-- The query then assumes that most members give the alphabetically first one.
--
-- What one row stands for depends on the reason:
--   * missing_rank, extra_call, other_name, other_dtype, other_size, out_of_order: one rank and one
--     unbroken sequence of calls. Example: if a rank lacks the calls 5, 6, 7 and 12 of a group, it
--     has one row for 5 to 7 and one row for 12. A sequence has the collectives of one group, or
--     the messages from one sender to one receiver.
--   * cut_by_window: one rank and one side (start or end) of its recording, for all groups together
--   * not_paired, unknown_peer: one rank and one group
--   * trace_missing, unknown_members, splits_cut_short: one group
--   * unknown_dtype: one data type
--   * unknown_operation: one name of a collective
--
-- If a job has traces of only one rank, its faults can have only these reasons: out_of_order,
-- unknown_dtype, unknown_operation and splits_cut_short.
--
-- Members may give a collective different names (other_name). clock_offsets, stragglers and
-- straggler_blame then use this collective only if each of these names is an all-reduce,
-- all-gather, reduce-scatter, all-to-all or barrier, since members leave these together.
--
-- since: 0.1
-- grain: job, finding
-- needs: collectives
-- returns:
--   job                 VARCHAR  -      run of a program
--   finding             BIGINT   -      number of the fault in the job, from 1
--   reason              VARCHAR  -      kind of fault, as above
--   rank                INTEGER  -      rank at fault; NULL if no single rank is at fault
--   group_id            BIGINT   -      number of the group in process_groups; NULL if the row
--                                       covers all groups
--   process_group       VARCHAR  -      name of the group; NULL if the row covers all groups
--   name                VARCHAR  -      name that PyTorch gives the first collective; `send` for
--                                       messages
--   collective_id       BIGINT   -      number of the first collective; NULL if the calls are not
--                                       paired. `collectives` has no row for a collective that only
--                                       one rank has
--   last_collective_id  BIGINT   -      number of the last collective; NULL if the calls are not
--                                       paired
--   collective_count    BIGINT   count  number of collectives, or of calls if they are not paired
--   detail              VARCHAR  -      details, such as the names, sizes or ranks
-- check: collective_count > 0
-- check: last_collective_id >= collective_id OR reason = 'out_of_order' OR reason = 'missing_rank'
-- reads: aligned_clocks, calls_out_of_order, disagreeing_calls, groups_of_jobs, missing_calls,
--   paired_members, placed_collectives, traces, unmeasured_calls
CREATE OR REPLACE MACRO collective_audit_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to check [default: all]
    only_ranks INTEGER[] := NULL  -- ranks to show; rows with rank NULL stay [default: all]
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
),
groups AS MATERIALIZED (
    FROM groups_of_jobs(only_jobs)
),
traced AS MATERIALIZED (
    SELECT job, rank
    FROM (
        SELECT t.job, t.rank FROM traces AS t
        UNION
        SELECT m.job, m.rank FROM members AS m
    )
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, job))
    QUALIFY count(*) OVER (PARTITION BY job) > 1
),
clocks AS MATERIALIZED (
    FROM aligned_clocks(members)
),
placed AS MATERIALIZED (
    FROM placed_collectives(members, clocks)
),
missing AS MATERIALIZED (
    FROM missing_calls(members, placed, groups, traced, clocks, only_jobs)
),
-- If one rank has a collective and two or more recorded ranks lack it, the one rank is at fault.
extra AS MATERIALIZED (
    SELECT j.job, j.collective_id, any_value(j.lane) AS lane, any_value(j.place) AS place
    FROM missing AS j
    WHERE j.rank_count = 1
    GROUP BY j.job, j.collective_id
    HAVING count(*) FILTER (j.cut_at IS NULL) > 1
),
-- All faults that are reported per run, with lane, rank, place and detail.
told AS (
    SELECT job, lane, rank, 'missing_rank' AS reason, place, collective_id, NULL AS detail
    FROM missing
    ANTI JOIN extra USING (job, collective_id)
    WHERE cut_at IS NULL
    UNION ALL
    SELECT x.job, x.lane, m.rank, 'extra_call' AS reason, x.place, x.collective_id, NULL AS detail
    FROM extra AS x
    JOIN members AS m ON m.job = x.job AND m.collective_id = x.collective_id
    UNION ALL
    FROM disagreeing_calls(members, placed)
    UNION ALL
    FROM calls_out_of_order(members, placed)
),
runs AS (
    SELECT
        *,
        place - row_number() OVER (PARTITION BY job, lane, rank, reason ORDER BY place) AS run
    FROM told
),
lane_groups AS (
    SELECT DISTINCT m.lane, m.group_id
    FROM members AS m
    WHERE m.lane IS NOT NULL
),
faults AS (
    SELECT
        r.job,
        r.reason,
        r.rank,
        any_value(l.group_id) AS group_id,
        min(r.collective_id) AS collective_id,
        max(r.collective_id) AS last_collective_id,
        count(DISTINCT r.collective_id) AS collective_count,
        coalesce(min(r.detail), 'in its group''s order, ' || min(r.place) || ' to ' || max(r.place))
            AS detail
    FROM runs AS r
    JOIN lane_groups AS l ON l.lane = r.lane
    GROUP BY r.job, r.reason, r.rank, r.lane, r.run
    UNION ALL
    SELECT
        job,
        'cut_by_window' AS reason,
        rank,
        NULL AS group_id,
        min(collective_id) AS collective_id,
        max(collective_id) AS last_collective_id,
        count(*) AS collective_count,
        CASE cut_at
            WHEN 'start' THEN 'before its first activity'
            ELSE 'after its last activity'
        END AS detail
    FROM missing
    ANTI JOIN extra USING (job, collective_id)
    WHERE cut_at IS NOT NULL
    GROUP BY job, rank, cut_at
    UNION ALL
    SELECT
        g.job,
        'trace_missing' AS reason,
        NULL AS rank,
        g.group_id,
        min(p.collective_id) AS collective_id,
        max(p.collective_id) AS last_collective_id,
        count(*) AS collective_count,
        'no trace of rank ' || array_to_string(any_value(w.ranks), ', ') AS detail
    FROM groups AS g
    JOIN (
        SELECT group_id, list(rank ORDER BY rank) AS ranks
        FROM (SELECT job, group_id, unnest(ranks) AS rank FROM groups) AS r
        ANTI JOIN traced AS t ON t.job = r.job AND t.rank = r.rank
        GROUP BY group_id
    ) AS w ON w.group_id = g.group_id
    JOIN placed AS p ON p.group_id = g.group_id
    WHERE g.job IN (SELECT job FROM traced)
    GROUP BY g.job, g.group_id
    UNION ALL
    FROM unmeasured_calls(members, groups, traced, only_jobs)
),
numbered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY job ORDER BY reason, rank, group_id, collective_id, detail
        ) AS finding
    FROM faults
)
SELECT
    f.job,
    f.finding,
    f.reason,
    f.rank,
    g.group_number AS group_id,
    g.process_group,
    p.name,
    f.collective_id,
    f.last_collective_id,
    f.collective_count,
    f.detail
FROM numbered AS f
LEFT JOIN groups AS g ON g.group_id = f.group_id
LEFT JOIN placed AS p ON p.job = f.job AND p.collective_id = f.collective_id
WHERE (only_ranks IS NULL OR f.rank IS NULL OR list_contains(only_ranks, f.rank))
ORDER BY f.job, f.finding;
