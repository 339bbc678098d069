-- The host waits until the GPU has finished, so the GPU is idle until the next launch.
--
-- Examples are item(), nonzero(), copies to the host, and synchronisations of a stream or device.
-- The idle time begins when the GPU finishes, and lasts until the next activity starts. Long
-- launches and late starts in it belong to slow_launches and stalled_after_launch.
--
-- Gain: this idle time, up to the time that the host waits. Without the waits, the host would
-- launch that much earlier.
--
-- needs: gpu_activities, launches
--
-- reads: host_ops, humane_count, humane_ns
CREATE OR REPLACE MACRO find_gpu_sync(only_jobs, idle, scopes) AS TABLE
WITH
idle_after AS (
    SELECT job, rank, device, wait_id, sum(idle_ns) AS idle_ns, max(longest_ns) AS longest_ns
    FROM query_table(idle)
    WHERE rule = 'gpu_sync'
    GROUP BY job, rank, device, wait_id
),
host_spans AS MATERIALIZED (
    SELECT h.job, h.rank, h.event_id, h.parent_id, h.op_id, h.name, h.dur_ns, h.cat
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
),
called AS (
    SELECT
        i.*,
        w.name AS wait_name,
        w.dur_ns AS wait_ns,
        coalesce(outer_op.name, op.name) AS operator,
        coalesce(outer_op.parent_id, op.parent_id, w.parent_id) AS caller_id
    FROM idle_after AS i
    JOIN host_spans AS w ON w.job = i.job AND w.rank = i.rank AND w.event_id = i.wait_id
    LEFT JOIN host_spans AS op
        ON op.job = w.job AND op.rank = w.rank AND op.event_id = w.op_id
    LEFT JOIN host_spans AS outer_op
        ON outer_op.job = op.job AND outer_op.rank = op.rank AND outer_op.event_id = op.op_id
),
totals AS (
    SELECT
        c.job,
        c.rank,
        c.device,
        coalesce(c.operator, c.wait_name) AS subject,
        mode(c.wait_name ORDER BY c.wait_name) AS wait_name,
        mode(caller.name ORDER BY caller.name) AS caller,
        count(*) AS wait_count,
        sum(c.idle_ns) AS idle_ns,
        sum(c.wait_ns) AS wait_ns,
        max(c.longest_ns) AS longest_ns
    FROM called AS c
    LEFT JOIN host_spans AS caller
        ON caller.job = c.job AND caller.rank = c.rank AND caller.event_id = c.caller_id
    GROUP BY c.job, c.rank, c.device, coalesce(c.operator, c.wait_name)
    QUALIFY row_number() OVER (
        PARTITION BY c.job, c.rank, coalesce(c.operator, c.wait_name)
        ORDER BY sum(c.idle_ns) DESC, c.device
    ) = 1
),
measured AS (
    SELECT
        t.* EXCLUDE (idle_ns, wait_ns),
        s.unit,
        s.per_unit,
        round(t.wait_count / s.typical_count, 1) AS count_per_unit,
        (t.idle_ns // s.typical_count)::BIGINT AS idle_ns,
        (t.wait_ns // s.typical_count)::BIGINT AS wait_ns
    FROM totals AS t
    JOIN query_table(scopes) AS s ON s.job = t.job AND s.rank = t.rank
)
SELECT
    job,
    rank,
    subject AS topic,
    subject,
    subject || ' makes the host wait for the GPU' AS title,
    format(
        'The host waits for the GPU in {}{} ({} {}, {}). For this, the GPU is idle for {} {} '
        || 'afterwards.',
        subject,
        coalesce(', called by ' || caller, ''),
        humane_count(count_per_unit, 'time', 'times'),
        per_unit,
        humane_ns(wait_ns),
        humane_ns(idle_ns),
        per_unit
    ) AS evidence,
    json_object(
        'idle_ns', idle_ns,
        'wait_ns', wait_ns,
        'wait_count', count_per_unit,
        'longest_ns', longest_ns,
        'wait_name', wait_name,
        'caller', caller
    ) AS numbers,
    idle_ns AS gain_ns,
    'exposed idle' AS gain_method,
    'medium' AS confidence,
    'Keep the value on the GPU, remove the read, or read it once per step after all launches.'
        AS advice,
    'sync_points' AS see
FROM measured;
