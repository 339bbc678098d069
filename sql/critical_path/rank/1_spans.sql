-- What the host did in the window: operators, runtime or driver calls, and data loading.
--
-- A window belongs to one rank and is given by the variables path_job, path_rank, path_start_ns and
-- path_end_ns. What began in the window belongs to it. path_loading has the names, or parts of the
-- names, of annotations in which data is loaded; everything inside them counts as data loading.
--
-- Spans of length zero take and bound no time. They are left out, unless they launch an activity.
CREATE OR REPLACE TEMP TABLE path_spans AS
WITH
host AS (
    SELECT h.*
    FROM host_ops AS h
    WHERE h.job = getvariable('path_job')
      AND h.rank = getvariable('path_rank')
      AND h.start_ns >= getvariable('path_start_ns')
      AND h.start_ns < getvariable('path_end_ns')
),
loading AS (
    SELECT h.event_id
    FROM host_ops AS h
    WHERE h.job = getvariable('path_job')
      AND h.rank = getvariable('path_rank')
      AND (h.cat = 'user_annotation') IS TRUE
      AND list_bool_or(
          list_transform(getvariable('path_loading'), lambda part: contains(h.name, part))
      )
),
launches AS (
    SELECT DISTINCT a.launch_id
    FROM gpu_activities AS a
    WHERE a.job = getvariable('path_job')
      AND a.rank = getvariable('path_rank')
)
SELECT
    h.event_id,
    dense_rank() OVER (ORDER BY h.pid, h.tid)::INTEGER AS thread,
    h.pid,
    h.tid,
    h.name,
    h.start_ns,
    h.end_ns,
    coalesce(h.is_backward, false) AS is_backward,
    h.event_id IN (FROM loading) OR coalesce(h.annotation_id IN (FROM loading), false)
        AS is_loading,
    h.event_id IN (FROM launches) AS is_launch,
    is_runtime_call(h.cat) AND waits_for_device(h.name) AS is_wait,
    -- A thread that asks again and again whether an event has come waits for it.
    is_runtime_call(h.cat) AND coalesce(regexp_matches(h.name, '^(cuda|cu|hip)EventQuery$'), false)
        AS is_poll
FROM host AS h
WHERE (is_operator(h.cat) OR is_runtime_call(h.cat) OR h.event_id IN (FROM loading))
  AND (h.dur_ns > 0 OR h.event_id IN (FROM launches));
