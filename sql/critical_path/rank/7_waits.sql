-- One row per wait for a GPU activity (source_id), by a host call or another activity (target_id).
--
-- The profiler's cuda_sync rows record which stream or CUDA event a call waits for. A CUDA event
-- stands for all work that its stream had been given before cudaEventRecord. cudaStreamWaitEvent
-- delays the first activity that the waiting stream is given after this call.
--
--     launch     [a)        [b)
--     host          [record)   [wait)   [c)
--     stream 7      [== a ===)[= b =)
--     stream 20              |              [c)
--
-- In the drawing, c waits for a, which was launched before the record. c does not wait for b.
--
-- If no cuda_sync row gives an activity for a waiting call, the query assumes that the call waits
-- for the activity that ended last during the call.
--
-- A copy can keep the host waiting. If the copy itself had to wait, its call waits for the copy. If
-- the copy did not have to wait, the time belongs to the call.
CREATE OR REPLACE TEMP TABLE path_waits AS
WITH
sync_rows AS (
    SELECT
        e.rank,
        e.correlation,
        e.name,
        coalesce(e.device, TRY_CAST(e.pid AS BIGINT), -1) AS device,
        e.stream,
        TRY_CAST(json_extract_string(e.args, '$.wait_on_stream') AS BIGINT) AS wait_on_stream,
        TRY_CAST(
            json_extract_string(e.args, '$.wait_on_cuda_event_record_corr_id') AS BIGINT
        ) AS record_correlation
    FROM events AS e
    WHERE e.job = getvariable('path_job')
      AND list_contains(getvariable('path_ranks'), e.rank)
      AND (e.cat = 'cuda_sync') IS TRUE
),
calls AS (
    SELECT h.rank, h.event_id, h.correlation, h.start_ns, h.end_ns
    FROM host_ops AS h
    SEMI JOIN (
        SELECT rank, correlation FROM sync_rows
        UNION ALL
        SELECT rank, record_correlation AS correlation FROM sync_rows
    ) AS s ON s.rank = h.rank AND s.correlation = h.correlation
    WHERE h.job = getvariable('path_job')
      AND list_contains(getvariable('path_ranks'), h.rank)
      AND is_runtime_call(h.cat)
    -- If several calls have the same correlation id, the outermost call counts.
    QUALIFY row_number() OVER (
        PARTITION BY h.rank, h.correlation ORDER BY h.start_ns, h.dur_ns DESC, h.event_id
    ) = 1
),
syncs AS MATERIALIZED (
    SELECT
        row_number() OVER () AS sync,
        s.rank,
        s.name,
        s.device,
        s.stream,
        s.wait_on_stream,
        c.event_id AS call_id,
        c.start_ns AS call_ns,
        c.end_ns AS call_end_ns,
        r.start_ns AS record_ns
    FROM sync_rows AS s
    JOIN calls AS c ON c.rank = s.rank AND c.correlation = s.correlation
    LEFT JOIN calls AS r ON r.rank = s.rank AND r.correlation = s.record_correlation
),
streams AS (
    SELECT DISTINCT rank, device, stream
    FROM path_activities
),
-- One row per synchronisation and stream: at_ns is the instant for which the query needs the last
-- activity that the stream had been given.
asked AS (
    SELECT sync, rank, device, stream, call_ns AS at_ns
    FROM syncs
    WHERE name = 'Stream Sync'
    UNION ALL
    SELECT s.sync, s.rank, s.device, streams.stream, s.call_ns AS at_ns
    FROM syncs AS s
    JOIN streams ON streams.rank = s.rank AND streams.device = s.device
    WHERE s.name = 'Context Sync'
    UNION ALL
    SELECT sync, rank, device, wait_on_stream AS stream, record_ns AS at_ns
    FROM syncs
    WHERE name IN ('Event Sync', 'Stream Wait Event') AND record_ns <= call_ns
),
-- A stream runs activities in the order in which it is given them. So the last activity has the
-- highest turn.
before_then AS (
    SELECT rank, device, stream, launch_start_ns AS at_ns, 0 AS phase, turn, NULL AS sync
    FROM path_activities
    UNION ALL
    SELECT rank, device, stream, at_ns, 1 AS phase, NULL AS turn, sync
    FROM asked
),
last_given AS (
    SELECT
        sync,
        max(turn) OVER (
            PARTITION BY rank, device, stream ORDER BY at_ns, phase ROWS UNBOUNDED PRECEDING
        ) AS source_turn
    FROM before_then
),
-- The first activity that the stream was given after the wait.
from_then AS (
    SELECT rank, device, stream, launch_start_ns AS at_ns, 1 AS phase, turn, NULL AS sync
    FROM path_activities
    UNION ALL
    SELECT rank, device, stream, call_ns AS at_ns, 0 AS phase, NULL AS turn, sync
    FROM syncs
    WHERE name = 'Stream Wait Event'
),
next_given AS (
    SELECT
        sync,
        min(turn) OVER (
            PARTITION BY rank, device, stream
            ORDER BY at_ns DESC, phase DESC ROWS UNBOUNDED PRECEDING
        ) AS target_turn
    FROM from_then
),
answers AS (
    SELECT
        s.rank,
        source.event_id AS source_id,
        CASE WHEN s.name = 'Stream Wait Event' THEN target.event_id ELSE s.call_id END AS target_id,
        s.name <> 'Stream Wait Event' AS is_of_host,
        source.end_ns - CASE
            WHEN s.name = 'Stream Wait Event' THEN target.start_ns
            ELSE s.call_end_ns
        END AS late_ns
    FROM syncs AS s
    JOIN last_given AS l ON l.sync = s.sync
    JOIN path_activities AS source ON source.turn = l.source_turn
    LEFT JOIN next_given AS n ON n.sync = s.sync
    LEFT JOIN path_activities AS target ON target.turn = n.target_turn
),
-- A target that continued 100 us or more before the source ended did not wait for the source. The
-- clocks of host and device do not disagree that much.
told AS (
    SELECT rank, source_id, target_id, is_of_host
    FROM answers
    WHERE late_ns < 100000
),
-- One row per waiting call for which no cuda_sync row gives an activity. The query assumes that the
-- call waits for the activity that ended last during the call, if this activity had been launched
-- before the call.
untold AS (
    SELECT s.rank, s.event_id, s.start_ns, s.end_ns
    FROM path_spans AS s
    ANTI JOIN (FROM told WHERE is_of_host) AS t ON t.rank = s.rank AND t.target_id = s.event_id
    WHERE s.is_wait
),
ends AS (
    SELECT rank, end_ns AS at_ns, 0 AS phase, event_id AS activity_id, NULL AS call_id
    FROM path_activities
    UNION ALL
    SELECT rank, end_ns AS at_ns, 1 AS phase, NULL AS activity_id, event_id AS call_id
    FROM untold
),
last_ended AS (
    SELECT
        rank,
        call_id,
        max(CASE WHEN phase = 0 THEN {'at_ns': at_ns, 'activity_id': activity_id} END) OVER (
            PARTITION BY rank ORDER BY at_ns, phase ROWS UNBOUNDED PRECEDING
        ).activity_id AS activity_id
    FROM ends
),
guessed AS (
    SELECT a.rank, a.event_id AS source_id, u.event_id AS target_id, true AS is_of_host
    FROM untold AS u
    JOIN last_ended AS l ON l.rank = u.rank AND l.call_id = u.event_id
    JOIN path_activities AS a ON a.rank = u.rank AND a.event_id = l.activity_id
    WHERE a.end_ns > u.start_ns AND coalesce(a.launch_start_ns, a.start_ns) <= u.start_ns
),
copies AS (
    SELECT rank, event_id AS source_id, launch_id AS target_id, true AS is_of_host
    FROM path_activities
    WHERE is_waited_for
)
SELECT DISTINCT rank, source_id, target_id, is_of_host FROM told
UNION
FROM guessed
UNION
FROM copies;
