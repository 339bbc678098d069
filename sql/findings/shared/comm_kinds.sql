-- What calls of one kind and size cost a rank, per step or in the trace.
--
-- `comm_calls`: rows of shared_comm_calls.
-- `scopes`: rows of shared_scopes.
--
-- Returns one row per job, rank, label, group_label, group_size, group_id and bytes, with these
-- sums, divided by the unit_count of scopes:
--
--     call_count        calls
--     exposed_ns        time in which nothing hides them: the sum of the next four, and what may
--                       be wait or transfer if is_whole is false
--     waited_ns         exposed waits; 0 if is_whole is false
--     moved_ns          exposed transfers without slow_ns and small_ns
--     slow_ns           what the exposed transfers of slow calls take longer than usual. A call is
--                       slow if its bandwidth is below `bandwidth_frac` of the 90th percentile of
--                       calls of the same kind and size, in all groups of this name and size
--     small_ns          exposed latency that one call instead of several would save. It counts for
--                       calls below `small_bytes` that follow a call of the same kind, without
--                       computation between the two
--     slow_count        slow calls, and slow_transfer_ns their transfers
--     small_count       calls of small_ns
--
-- and
--
--     usual_ns    transfer at the 90th percentile of the bandwidth
--     latency_ns  shortest transfer of a call below `small_bytes`
--     is_whole    as in comm_calls
--
-- reads: limit_of
CREATE OR REPLACE MACRO shared_comm_kinds(comm_calls, scopes) AS TABLE
WITH
marked AS (
    SELECT
        *,
        coalesce(bytes < limit_of('small_collectives', 'small_bytes'), false) AS is_small,
        CASE WHEN is_whole AND bytes > 0 THEN collective_id END AS told_id
    FROM query_table(comm_calls)
),
compared AS (
    SELECT
        *,
        quantile_disc(transfer_ns, 0.1) FILTER (told_id IS NOT NULL) OVER of_kind AS usual_ns,
        count(DISTINCT told_id) OVER of_kind AS told_count,
        min(transfer_ns) FILTER (is_small AND transfer_ns > 0) OVER (
            PARTITION BY job, label, group_label, group_size
        ) AS latency_ns,
        is_small
            AND computed_since_ns = 0
            AND lag(is_small) OVER in_order
            AND lag(step) OVER in_order IS NOT DISTINCT FROM step
            AND lag(label) OVER in_order = label
            AND lag(group_label) OVER in_order IS NOT DISTINCT FROM group_label AS is_follower
    FROM marked
    WINDOW
        of_kind AS (PARTITION BY job, label, group_label, group_size, bytes),
        in_order AS (PARTITION BY job, rank, device ORDER BY start_ns, event_id)
),
slowed AS (
    SELECT
        *,
        CASE
            WHEN told_id IS NOT NULL
                AND told_count >= limit_of('slow_collectives', 'least_calls')
                AND usual_ns < limit_of('slow_collectives', 'bandwidth_frac') * transfer_ns
            THEN least(moved_ns, transfer_ns - usual_ns)
        END AS slow_ns
    FROM compared
),
split AS (
    SELECT
        *,
        CASE
            WHEN is_follower THEN least(latency_ns, moved_ns - coalesce(slow_ns, 0))
        END AS small_ns
    FROM slowed
),
sums AS (
    SELECT
        job,
        rank,
        label,
        group_label,
        group_size,
        group_id,
        bytes,
        bool_and(is_whole) AS is_whole,
        any_value(usual_ns) AS usual_ns,
        any_value(latency_ns) AS latency_ns,
        count(*) AS call_count,
        count(slow_ns) AS slow_count,
        count(small_ns) AS small_count,
        sum(exposed_ns) AS exposed_ns,
        coalesce(sum(waited_ns), 0) AS waited_ns,
        sum(moved_ns - coalesce(slow_ns, 0) - coalesce(small_ns, 0)) AS moved_ns,
        coalesce(sum(slow_ns), 0) AS slow_ns,
        coalesce(sum(transfer_ns) FILTER (slow_ns IS NOT NULL), 0) AS slow_transfer_ns,
        coalesce(sum(small_ns), 0) AS small_ns
    FROM split
    GROUP BY ALL
)
SELECT
    c.* EXCLUDE (
        call_count, slow_count, small_count, exposed_ns, waited_ns, moved_ns, slow_ns,
        slow_transfer_ns, small_ns
    ),
    c.call_count / s.unit_count AS call_count,
    c.slow_count / s.unit_count AS slow_count,
    c.small_count / s.unit_count AS small_count,
    (c.exposed_ns // s.unit_count)::BIGINT AS exposed_ns,
    (c.waited_ns // s.unit_count)::BIGINT AS waited_ns,
    (c.moved_ns // s.unit_count)::BIGINT AS moved_ns,
    (c.slow_ns // s.unit_count)::BIGINT AS slow_ns,
    (c.slow_transfer_ns // s.unit_count)::BIGINT AS slow_transfer_ns,
    (c.small_ns // s.unit_count)::BIGINT AS small_ns,
    s.per_unit,
    s.rank_count
FROM sums AS c
JOIN query_table(scopes) AS s ON s.job = c.job AND s.rank = c.rank;
