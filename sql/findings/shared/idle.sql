-- Each device's idle time in typical steps, given to at most one rule.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `typical_idle`: rows of shared_typical_idle.
-- `idle_pieces`: rows of shared_idle_pieces.
--
-- Returns sums over idle_pieces, by job, rank, device and
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
-- reads: copies_synchronously, copy_kind, event_id_of_span, gpu_activities, host_ops, mark_label,
--   rank_number_of_span, span_number, step_label, step_marks, waits_for_device
CREATE OR REPLACE MACRO shared_idle(only_jobs, typical_idle, idle_pieces) AS TABLE
WITH
ranks AS MATERIALIZED (
    SELECT DISTINCT job, rank, rank_number
    FROM query_table(typical_idle)
),
-- The spans of idle pieces; there are far more other spans.
spans AS MATERIALIZED (
    SELECT r.job, r.rank, event_id_of_span(s.span) AS event_id, s.span
    FROM (
        SELECT host_span AS span FROM query_table(idle_pieces) WHERE host_span IS NOT NULL
        UNION
        SELECT outer_span FROM query_table(idle_pieces) WHERE outer_span IS NOT NULL
    ) AS s
    JOIN ranks AS r ON r.rank_number = rank_number_of_span(s.span)
),
spans_with_names AS MATERIALIZED (
    SELECT s.span, h.name, m.event_id IS NOT NULL AS is_mark
    FROM host_ops AS h
    JOIN spans AS s ON s.job = h.job AND s.rank = h.rank AND s.event_id = h.event_id
    LEFT JOIN step_marks AS m
        ON m.job = h.job AND m.rank = h.rank AND m.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
),
-- The names that idle time is reported by.
names AS MATERIALIZED (
    SELECT name, is_mark, CASE WHEN is_mark THEN mark_label(name) ELSE step_label(name) END AS label
    FROM (SELECT DISTINCT name, is_mark FROM spans_with_names)
),
labels AS MATERIALIZED (
    SELECT
        label,
        row_number() OVER () AS label_number,
        waits_for_device(label) OR copies_synchronously(label) AS is_wait,
        regexp_matches(
            label, '^(cuda|hip|cu)(Malloc|Free|Mem(Create|Map|Unmap|Release|SetAccess))'
        ) AND NOT contains(label, 'Host') AS is_memory_call
    FROM (SELECT DISTINCT label FROM names WHERE label IS NOT NULL)
),
labels_of_spans AS MATERIALIZED (
    SELECT s.span, l.label_number
    FROM spans_with_names AS s
    JOIN names AS n ON n.name = s.name AND n.is_mark = s.is_mark
    JOIN labels AS l ON l.label = n.label
),
copies_to_host AS (
    SELECT DISTINCT span_number(r.rank_number, a.launch_id) AS span
    FROM gpu_activities AS a
    JOIN ranks AS r ON r.job = a.job AND r.rank = a.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND a.kind = 'memory'
      AND copy_kind(a.name) = 'Memcpy DtoH'
),
-- The call that waits for the device when a gap begins, and the operator around it.
waiting_calls AS MATERIALIZED (
    SELECT
        t.gap_number,
        t.job,
        t.rank,
        t.device,
        t.event_id,
        event_id_of_span(p.host_span) AS wait_id,
        l.label
    FROM query_table(idle_pieces) AS p
    JOIN query_table(typical_idle) AS t ON t.part_number = p.part_number
    LEFT JOIN labels_of_spans AS s ON s.span = p.host_span
    LEFT JOIN labels AS l ON l.label_number = s.label_number
    LEFT JOIN copies_to_host AS c ON c.span = p.host_span
    WHERE p.is_first AND (l.is_wait OR c.span IS NOT NULL)
),
waits AS MATERIALIZED (
    SELECT
        w.gap_number,
        w.job,
        w.rank,
        w.device,
        w.event_id,
        w.wait_id,
        h.dur_ns AS wait_ns,
        coalesce(op.name, w.label) AS waiting
    FROM waiting_calls AS w
    JOIN host_ops AS h
        ON h.job = w.job
        AND h.rank = w.rank
        AND h.event_id = w.wait_id
        AND (only_jobs IS NULL OR list_contains(only_jobs, h.job))
    LEFT JOIN host_ops AS op
        ON op.job = h.job
        AND op.rank = h.rank
        AND op.event_id = h.op_id
        AND (only_jobs IS NULL OR list_contains(only_jobs, op.job))
),
-- The activity before a gap, if it is shorter than its own launch.
short_before AS (
    SELECT g.gap_number, a.op_id
    FROM (SELECT DISTINCT gap_number, job, rank, previous_id FROM query_table(typical_idle)) AS g
    JOIN gpu_activities AS a
        ON a.job = g.job AND a.rank = g.rank AND a.event_id = g.previous_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND a.dur_ns < a.launch_end_ns - a.launch_start_ns
),
-- Without its waits, the host would be earlier by their durations. Idle time after the waits of an
-- operator is gpu_sync up to the sum of these durations; the rest belongs to the next rule.
wait_sums AS (
    SELECT job, rank, device, waiting, sum(wait_ns) AS all_wait_ns
    FROM (SELECT DISTINCT job, rank, device, waiting, wait_id, wait_ns FROM waits)
    GROUP BY job, rank, device, waiting
),
parts_after_waits AS MATERIALIZED (
    SELECT t.part_number, w.job, w.rank, w.device, w.event_id, w.waiting
    FROM query_table(typical_idle) AS t
    JOIN waits AS w ON w.gap_number = t.gap_number
    WHERE NOT (t.is_long AND t.cause IN ('launching', 'queued'))
),
after_waits AS (
    SELECT
        p.part_number,
        p.host_span,
        p.outer_span,
        p.segment_ns,
        w.job,
        w.rank,
        w.device,
        w.waiting,
        sum(p.segment_ns) OVER (
            PARTITION BY w.job, w.rank, w.device, w.waiting
            ORDER BY p.first_ns, w.event_id, l.label
            ROWS UNBOUNDED PRECEDING
        ) AS until_ns
    FROM query_table(idle_pieces) AS p
    JOIN parts_after_waits AS w ON w.part_number = p.part_number
    LEFT JOIN labels_of_spans AS s ON s.span = p.host_span
    LEFT JOIN labels AS l ON l.label_number = s.label_number
    WHERE NOT p.is_loading
),
synced AS MATERIALIZED (
    SELECT
        a.*,
        greatest(
            0, least(a.segment_ns, w.all_wait_ns - a.until_ns + a.segment_ns)
        )::BIGINT AS synced_ns
    FROM after_waits AS a
    LEFT JOIN wait_sums AS w
        ON w.job = a.job
        AND w.rank = a.rank
        AND w.device IS NOT DISTINCT FROM a.device
        AND w.waiting = a.waiting
),
shared_out AS (
    SELECT p.part_number, p.host_span, p.outer_span, p.segment_ns, p.is_loading, false AS is_synced
    FROM query_table(idle_pieces) AS p
    LEFT JOIN parts_after_waits AS w ON w.part_number = p.part_number
    WHERE w.part_number IS NULL OR p.is_loading
    UNION ALL
    SELECT part_number, host_span, outer_span, synced_ns, false, true
    FROM synced
    WHERE synced_ns > 0
    UNION ALL
    SELECT part_number, host_span, outer_span, segment_ns - synced_ns, false, false
    FROM synced
    WHERE segment_ns > synced_ns
),
-- A part of an idle time is what is left of the idle time with one cause.
by_part AS (
    SELECT
        o.part_number,
        o.is_loading,
        o.is_synced,
        host.label_number AS host_label,
        outermost.label_number AS outer_label,
        sum(o.segment_ns) AS gap_ns
    FROM shared_out AS o
    LEFT JOIN labels_of_spans AS host ON host.span = o.host_span
    LEFT JOIN labels_of_spans AS outermost ON outermost.span = o.outer_span
    GROUP BY ALL
),
known_parts AS (
    SELECT
        t.part_number,
        t.rank_number,
        t.device,
        t.cause,
        t.is_long,
        t.next_name,
        t.is_short AND b.gap_number IS NOT NULL AS is_after_short,
        b.op_id,
        w.wait_id
    FROM query_table(typical_idle) AS t
    LEFT JOIN short_before AS b ON b.gap_number = t.gap_number
    LEFT JOIN waits AS w ON w.gap_number = t.gap_number
),
by_reason AS (
    SELECT
        t.rank_number,
        t.device,
        CASE
            WHEN i.is_synced THEN 'gpu_sync'
            WHEN i.is_loading THEN 'data_loading'
            WHEN l.is_memory_call THEN 'memory_thrash'
            WHEN t.cause = 'launching' AND t.is_long THEN 'slow_launches'
            WHEN t.cause = 'queued' AND t.is_long THEN 'stalled_after_launch'
            WHEN t.cause IN ('host_wait', 'launching') AND t.is_after_short THEN 'launch_overhead'
            WHEN t.cause IN ('host_wait', 'launching') THEN 'host_bound'
        END AS rule,
        t.cause,
        i.host_label,
        i.outer_label,
        CASE WHEN rule = 'gpu_sync' THEN t.wait_id END AS wait_id,
        CASE WHEN rule = 'launch_overhead' THEN t.op_id END AS op_id,
        CASE WHEN rule IN ('stalled_after_launch', 'slow_launches') THEN t.next_name END
            AS next_name,
        sum(i.gap_ns)::BIGINT AS idle_ns,
        count(*) AS gap_count,
        max(i.gap_ns)::BIGINT AS longest_ns
    FROM by_part AS i
    JOIN known_parts AS t ON t.part_number = i.part_number
    LEFT JOIN labels AS l ON l.label_number = i.host_label
    GROUP BY ALL
)
SELECT
    r.job,
    r.rank,
    i.device,
    i.rule,
    i.cause,
    host.label AS host_name,
    outermost.label AS outer_name,
    i.wait_id,
    i.op_id,
    i.next_name,
    i.idle_ns,
    i.gap_count,
    i.longest_ns
FROM by_reason AS i
JOIN ranks AS r ON r.rank_number = i.rank_number
LEFT JOIN labels AS host ON host.label_number = i.host_label
LEFT JOIN labels AS outermost ON outermost.label_number = i.outer_label;
