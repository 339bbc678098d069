-- What the host did while each device was idle, by cause and by span.
--
-- A device is idle while no activity runs on any of its streams, from its first activity to its
-- last. Each idle gap is cut into parts by cause, as in idle_gaps. Each part is then divided by
-- what the thread that launched the next activity had open: exactly, to the nanosecond.
--
--     device     [====)..............................[====)
--     cause            host_wait               launching
--     main thread  [ step                                     )
--                        [ next batch      )
--                          [ read  )         [ launch )
--     name            step, next batch, read, next batch, step, launch
--
-- `name` is the innermost open span: an operator, an annotation, a Python function, or a runtime or
-- driver call. `outer_name` is the outermost open span. It leaves out spans that are open all the
-- time: the annotations of steps, the Python functions that call them, functions that are open
-- during all activities of the rank, and Python's entry frames. Both are NULL if no such span was
-- open, or if the launch is not known. A step's annotation has one name for all steps, such as
-- `ProfilerStep`, or `train_step N` for `train_step 7`.
--
-- A device's rows add up to its idle time in temporal_breakdown, if top_k is not given.
--
-- since: 0.1
-- grain: job, rank, device, cause, name, outer_name
-- needs: gpu_activities
-- returns:
--   job         VARCHAR  -      run of a program
--   rank        INTEGER  -      rank of the process
--   device      BIGINT   -      GPU, as the process numbers it
--   cause       VARCHAR  -      host_wait, launching, queued, kernel_wait or unknown
--   name        VARCHAR  -      innermost span that was open on the launching thread
--   outer_name  VARCHAR  -      outermost span that was open there, as above
--   idle_ns     BIGINT   ns     idle time of the device with this cause and these spans
--   idle_frac   DOUBLE   0-1    idle_ns / idle time of the device
--   gap_count   BIGINT   count  gaps in which this time lies
--   longest_ns  BIGINT   ns     most time in one gap
-- check: idle_ns > 0 AND gap_count > 0
-- check: longest_ns <= idle_ns AND idle_ns <= gap_count * longest_ns
-- check: idle_frac > 0 AND idle_frac <= 1
-- check: cause IN ('host_wait', 'launching', 'queued', 'kernel_wait', 'unknown')
-- check: cause <> 'unknown' OR name IS NULL
-- reads: device_idle, host_ops, idle_segments, mark_label, step_label, step_marks
CREATE OR REPLACE MACRO idle_reasons_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    top_k BIGINT := NULL,  -- rows per device, those with the most idle time [default: all]
    kernel_gap_ns BIGINT := 30000  -- ns; only shorter parts can be kernel_wait
) AS TABLE
WITH
parts AS MATERIALIZED (
    FROM device_idle(only_jobs, only_ranks, only_steps, kernel_gap_ns)
),
host_names AS NOT MATERIALIZED (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        CASE
            WHEN m.event_id IS NULL THEN step_label(h.name) ELSE mark_label(h.name)
        END AS name
    FROM host_ops AS h
    LEFT JOIN step_marks AS m
        ON m.job = h.job AND m.rank = h.rank AND m.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
),
-- The sums leave far fewer rows for the joins below.
inner_named AS (
    SELECT
        p.part_number,
        p.gap_number,
        p.job,
        p.rank,
        p.device,
        p.cause,
        h.name,
        s.outer_event_id,
        sum(s.segment_ns) AS segment_ns
    FROM idle_segments(parts, only_jobs, only_ranks) AS s
    JOIN parts AS p ON p.part_number = s.part_number
    LEFT JOIN host_names AS h
        ON h.job = p.job AND h.rank = p.rank AND h.event_id = s.host_event_id
    GROUP BY ALL
),
named AS (
    SELECT
        s.job,
        s.rank,
        s.device,
        s.cause,
        s.name,
        h.name AS outer_name,
        s.gap_number,
        sum(s.segment_ns) AS gap_ns
    FROM inner_named AS s
    LEFT JOIN host_names AS h
        ON h.job = s.job AND h.rank = s.rank AND h.event_id = s.outer_event_id
    GROUP BY ALL
),
reasons AS (
    SELECT
        job,
        rank,
        device,
        cause,
        name,
        outer_name,
        sum(gap_ns)::BIGINT AS idle_ns,
        count(*) AS gap_count,
        max(gap_ns)::BIGINT AS longest_ns
    FROM named
    GROUP BY job, rank, device, cause, name, outer_name
),
measured AS (
    SELECT
        *,
        idle_ns / sum(idle_ns) OVER (PARTITION BY job, rank, device) AS idle_frac,
        row_number() OVER (
            PARTITION BY job, rank, device ORDER BY idle_ns DESC, cause, name, outer_name
        ) AS place
    FROM reasons
)
SELECT
    m.job,
    m.rank,
    m.device,
    m.cause,
    m.name,
    m.outer_name,
    m.idle_ns,
    m.idle_frac,
    m.gap_count,
    m.longest_ns
FROM measured AS m
WHERE (top_k IS NULL OR m.place <= top_k)
ORDER BY m.job, m.rank, m.device, m.idle_ns DESC, m.cause, m.name, m.outer_name;
