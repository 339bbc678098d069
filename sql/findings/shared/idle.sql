-- Each device's idle time in typical steps, given to at most one rule.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `steady`: rows of shared_steady.
-- `lost_launches`: rows of shared_lost_launches.
--
-- A rank whose trace is thinned out has no rows: the device may have run what the trace lacks.
--
-- Returns sums over the pieces of idle_segments, by job, rank, device and
--
--     rule        the rule that the idle time belongs to; NULL: none
--     cause       as in idle_gaps
--     host_name   innermost span that was open on the launching thread
--     outer_name  outermost span there, as in idle_reasons
--     wait_id     gpu_sync: event_id of the call that waited for the device
--     op_id       launch_overhead: operator of the activity before the gap
--     next_name   short name of the activity that ends the gap, if rule is stalled_after_launch or
--                 slow_launches
--
-- with idle_ns, gap_count and longest_ns (the most in one gap). The rules, the first that applies:
--
--     data_loading          the thread is inside the next batch of a data loader
--     gpu_sync              the thread waits for the device when the gap begins; for each
--                           operator at most the duration of its waits, and not the time that is
--                           slow_launches or stalled_after_launch
--     memory_thrash         the innermost span allocates or frees device memory
--     slow_launches         a launching part of long_wait_ns or more
--     stalled_after_launch  a queued part of long_wait_ns or more
--     launch_overhead       a short gap after an activity that is shorter than its own launch
--     host_bound            host_wait or launching
--
-- Limits are in finding_thresholds.
--
-- reads: copies_synchronously, copy_kind, device_idle, gpu_activities, host_ops, idle_segments,
--   limit_of, mark_label, step_label, step_marks, waits_for_device
CREATE OR REPLACE MACRO shared_idle(only_jobs, steady, lost_launches) AS TABLE
WITH
parts AS MATERIALIZED (
    SELECT
        p.*,
        p.part_ns >= limit_of('all', 'long_wait_ns') AS is_long,
        p.gap_ns <= limit_of('launch_overhead', 'longest_gap_ns') AS is_short
    FROM device_idle(only_jobs, NULL, NULL, 30000) AS p
    SEMI JOIN query_table(steady) AS s
        ON s.job = p.job
        AND s.rank = p.rank
        AND s.is_typical
        AND (s.step IS NULL OR s.step = p.step)
    ANTI JOIN (FROM query_table(lost_launches) WHERE is_sampled) AS l
        ON l.job = p.job AND l.rank = p.rank
),
pieces AS MATERIALIZED (
    SELECT
        s.*,
        p.cause,
        p.short_name AS next_name,
        p.is_long,
        p.is_short,
        p.idle_since_ns = s.first_ns AS is_first
    FROM idle_segments(parts, only_jobs, NULL) AS s
    JOIN parts AS p
        ON p.job = s.job
        AND p.rank = s.rank
        AND p.device IS NOT DISTINCT FROM s.device
        AND p.event_id = s.event_id
        AND p.part_start_ns = s.part_start_ns
),
-- The activity that started last before the gap.
before_gaps AS MATERIALIZED (
    SELECT job, rank, device, event_id, last_op_id, is_last_short
    FROM (
        SELECT
            a.job,
            a.rank,
            a.device,
            a.event_id,
            lag(a.op_id) OVER in_order AS last_op_id,
            lag(a.dur_ns < a.launch_end_ns - a.launch_start_ns) OVER in_order AS is_last_short
        FROM gpu_activities AS a
        WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
        WINDOW in_order AS (PARTITION BY a.job, a.rank, a.device ORDER BY a.start_ns, a.event_id)
    )
    WHERE is_last_short
),
opened AS (
    SELECT job, rank, device, event_id, host_event_id
    FROM pieces
    WHERE is_first AND host_event_id IS NOT NULL
),
span_ids AS (
    SELECT job, rank, host_event_id AS event_id FROM pieces
    UNION
    SELECT job, rank, outer_event_id AS event_id FROM pieces
),
span_names AS MATERIALIZED (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        h.dur_ns,
        h.op_id,
        CASE
            WHEN m.event_id IS NULL THEN step_label(h.name) ELSE mark_label(h.name)
        END AS name
    FROM host_ops AS h
    LEFT JOIN step_marks AS m
        ON m.job = h.job AND m.rank = h.rank AND m.event_id = h.event_id
    SEMI JOIN span_ids AS i ON i.job = h.job AND i.rank = h.rank AND i.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
),
copies_to_host AS (
    SELECT DISTINCT a.job, a.rank, a.launch_id
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND a.kind = 'memory'
      AND copy_kind(a.name) = 'Memcpy DtoH'
),
waits AS MATERIALIZED (
    SELECT
        o.job,
        o.rank,
        o.device,
        o.event_id,
        o.host_event_id AS wait_id,
        n.dur_ns AS wait_ns,
        coalesce(op.name, n.name) AS waiting
    FROM opened AS o
    JOIN span_names AS n
        ON n.job = o.job AND n.rank = o.rank AND n.event_id = o.host_event_id
    LEFT JOIN host_ops AS op
        ON op.job = n.job
        AND op.rank = n.rank
        AND op.event_id = n.op_id
        AND (only_jobs IS NULL OR list_contains(only_jobs, op.job))
    LEFT JOIN copies_to_host AS c
        ON c.job = o.job AND c.rank = o.rank AND c.launch_id = o.host_event_id
    WHERE waits_for_device(n.name) OR copies_synchronously(n.name) OR c.launch_id IS NOT NULL
),
claimed AS (
    SELECT
        s.job,
        s.rank,
        s.device,
        s.event_id,
        s.first_ns,
        s.segment_ns,
        s.cause,
        s.next_name,
        host_span.name AS host_name,
        outer_span.name AS outer_name,
        w.wait_id,
        w.waiting,
        b.last_op_id,
        w.wait_id IS NOT NULL
        AND NOT s.is_loading
        AND NOT (s.is_long AND s.cause IN ('launching', 'queued')) AS is_after_wait,
        CASE
            WHEN s.is_loading THEN 'data_loading'
            WHEN regexp_matches(
                host_span.name,
                '^(cuda|hip|cu)(Malloc|Free|Mem(Create|Map|Unmap|Release|SetAccess))'
            ) AND NOT contains(host_span.name, 'Host')
            THEN 'memory_thrash'
            WHEN s.cause = 'launching' AND s.is_long THEN 'slow_launches'
            WHEN s.cause = 'queued' AND s.is_long THEN 'stalled_after_launch'
            WHEN s.cause IN ('host_wait', 'launching') AND b.is_last_short AND s.is_short
            THEN 'launch_overhead'
            WHEN s.cause IN ('host_wait', 'launching') THEN 'host_bound'
        END AS rule
    FROM pieces AS s
    LEFT JOIN before_gaps AS b
        ON b.job = s.job
        AND b.rank = s.rank
        AND b.device IS NOT DISTINCT FROM s.device
        AND b.event_id = s.event_id
    LEFT JOIN waits AS w
        ON w.job = s.job
        AND w.rank = s.rank
        AND w.device IS NOT DISTINCT FROM s.device
        AND w.event_id = s.event_id
    LEFT JOIN span_names AS host_span
        ON host_span.job = s.job
        AND host_span.rank = s.rank
        AND host_span.event_id = s.host_event_id
    LEFT JOIN span_names AS outer_span
        ON outer_span.job = s.job
        AND outer_span.rank = s.rank
        AND outer_span.event_id = s.outer_event_id
),
-- Without its waits, the host would be earlier by their durations. Idle time after the waits of an
-- operator is gpu_sync up to the sum of these durations; the rest belongs to the next rule.
wait_sums AS (
    SELECT job, rank, device, waiting, sum(wait_ns) AS all_wait_ns
    FROM (SELECT DISTINCT job, rank, device, waiting, wait_id, wait_ns FROM waits)
    GROUP BY job, rank, device, waiting
),
synced AS (
    SELECT
        c.*,
        CASE
            WHEN c.is_after_wait
            THEN greatest(0, least(c.segment_ns, w.all_wait_ns - c.until_ns + c.segment_ns))
            ELSE 0
        END AS synced_ns
    FROM (
        SELECT
            *,
            sum(segment_ns) FILTER (is_after_wait) OVER (
                PARTITION BY job, rank, device, waiting
                ORDER BY first_ns, event_id, host_name
                ROWS UNBOUNDED PRECEDING
            ) AS until_ns
        FROM claimed
    ) AS c
    LEFT JOIN wait_sums AS w
        ON w.job = c.job
        AND w.rank = c.rank
        AND w.device IS NOT DISTINCT FROM c.device
        AND w.waiting = c.waiting
),
shared_out AS (
    SELECT * REPLACE (synced_ns AS segment_ns, 'gpu_sync' AS rule)
    FROM synced
    WHERE synced_ns > 0
    UNION ALL
    SELECT * REPLACE (segment_ns - synced_ns AS segment_ns)
    FROM synced
    WHERE segment_ns > synced_ns
),
by_gap AS (
    SELECT
        job,
        rank,
        device,
        rule,
        cause,
        host_name,
        outer_name,
        CASE WHEN rule = 'gpu_sync' THEN wait_id END AS wait_id,
        CASE WHEN rule = 'launch_overhead' THEN last_op_id END AS op_id,
        CASE WHEN rule IN ('stalled_after_launch', 'slow_launches') THEN next_name END
            AS next_name,
        event_id,
        sum(segment_ns) AS gap_ns
    FROM shared_out
    GROUP BY ALL
)
SELECT
    * EXCLUDE (event_id, gap_ns),
    sum(gap_ns)::BIGINT AS idle_ns,
    count(*) AS gap_count,
    max(gap_ns)::BIGINT AS longest_ns
FROM by_gap
GROUP BY ALL;
