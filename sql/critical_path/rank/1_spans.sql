-- One row per span of the host in the window: operators, runtime or driver calls, and data loading.
--
-- Variables:
--   * path_job, path_rank: the rank of the window
--   * path_start_ns, path_end_ns: the window. A span belongs to the window in which it begins.
--   * path_loading: names, or parts of names, of annotations in which data is loaded
--
-- A span counts as data loading (is_loading) in two cases:
--   * The span is an annotation of path_loading.
--   * The innermost annotation around the span (annotation_id) is an annotation of path_loading.
--
-- A span of length zero has a row only if it launches an activity, because it takes no time on any
-- path.
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
    -- An EventQuery call asks whether a CUDA event is complete. A thread that waits for the CUDA
    -- event repeats the call.
    is_runtime_call(h.cat) AND coalesce(regexp_matches(h.name, '^(cuda|cu|hip)EventQuery$'), false)
        AS is_poll
FROM host AS h
WHERE (is_operator(h.cat) OR is_runtime_call(h.cat) OR h.event_id IN (FROM loading))
  AND (h.dur_ns > 0 OR h.event_id IN (FROM launches));
