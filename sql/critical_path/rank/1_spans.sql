-- One row per span of the host in the window of its rank: operators, runtime or driver calls, and
-- data loading.
--
-- The files of this folder run for several ranks at once. The table job_windows has their windows.
--
-- Variables:
--   * path_job, path_ranks: the job, and the ranks
--   * path_start_ns, path_end_ns: from the first start to the last end of these ranks' windows
--   * path_loading: names, or parts of names, of annotations in which data is loaded
--
-- A span belongs to the window in which it begins.
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
    JOIN job_windows AS w ON w.rank = h.rank
    WHERE h.job = getvariable('path_job')
      AND list_contains(getvariable('path_ranks'), h.rank)
      -- With these bounds, DuckDB does not read the parts of files that are outside all windows.
      AND h.start_ns >= getvariable('path_start_ns')
      AND h.start_ns < getvariable('path_end_ns')
      AND h.start_ns >= w.since_ns
      AND h.start_ns < w.until_ns
),
loading AS (
    SELECT h.rank, h.event_id
    FROM host_ops AS h
    WHERE h.job = getvariable('path_job')
      AND list_contains(getvariable('path_ranks'), h.rank)
      AND (h.cat = 'user_annotation') IS TRUE
      AND list_bool_or(
          list_transform(getvariable('path_loading'), lambda part: contains(h.name, part))
      )
),
launches AS (
    SELECT DISTINCT a.rank, a.launch_id
    FROM gpu_activities AS a
    WHERE a.job = getvariable('path_job')
      AND list_contains(getvariable('path_ranks'), a.rank)
),
spans AS (
    SELECT
        h.*,
        loads.event_id IS NOT NULL AS loads,
        around.event_id IS NOT NULL AS is_in_loading,
        launches.launch_id IS NOT NULL AS is_launch
    FROM host AS h
    LEFT JOIN loading AS loads ON loads.rank = h.rank AND loads.event_id = h.event_id
    LEFT JOIN loading AS around ON around.rank = h.rank AND around.event_id = h.annotation_id
    LEFT JOIN launches ON launches.rank = h.rank AND launches.launch_id = h.event_id
)
SELECT
    rank,
    event_id,
    dense_rank() OVER (ORDER BY rank, pid, tid)::INTEGER AS thread,
    pid,
    tid,
    name,
    start_ns,
    end_ns,
    coalesce(is_backward, false) AS is_backward,
    loads OR is_in_loading AS is_loading,
    is_launch,
    is_runtime_call(cat) AND waits_for_device(name) AS is_wait,
    -- An EventQuery call asks whether a CUDA event is complete. A thread that waits for the CUDA
    -- event repeats the call.
    is_runtime_call(cat) AND coalesce(regexp_matches(name, '^(cuda|cu|hip)EventQuery$'), false)
        AS is_poll
FROM spans
WHERE (is_operator(cat) OR is_runtime_call(cat) OR loads)
  AND (dur_ns > 0 OR is_launch);
