-- GPU activities of each stream and rank in a time window, on aligned clocks.
--
-- The result is the data of a picture with one lane per stream. Ranks are moved onto the clock of
-- their reference rank, as in clock_offsets, so that the ends of a collective line up across ranks.
-- A rank whose clock is not known keeps its own (is_aligned is false). The window is counted from
-- the job's first activity, whichever ranks and steps are selected. The query shows activities that
-- end after window_from_ns and start before window_until_ns.
--
-- HTA's plot_timeline draws the data frame of one rank. HTA compares ranks on their own clocks.
--
-- since: 0.1
-- grain: job, rank, device, stream, start_ns, event_id
-- returns:
--   job            VARCHAR  -   run of a program
--   rank           INTEGER  -   rank of the process
--   device         BIGINT   -   GPU, as the process numbers it
--   stream         BIGINT   -   stream on the device
--   start_ns       BIGINT   ns  start of the activity, on the reference rank's clock
--   event_id       BIGINT   -   event_id of the activity
--   from_start_ns  BIGINT   ns  start of the activity, counted from the job's first activity
--   dur_ns         BIGINT   ns  duration of the activity, on the rank's own clock
--   kind           VARCHAR  -   computation, communication or memory
--   name           VARCHAR  -   short name of the kernel or copy
--   step           BIGINT   -   step in which it was launched; NULL outside steps
--   process_group  VARCHAR  -   name of the process group, if it is a collective or message
--   is_aligned     BOOLEAN  -   whether the rank's clock is aligned
-- check: from_start_ns >= 0 OR from_start_ns + dur_ns > 0
-- check: dur_ns >= 0
-- reads: aligned_ns, gpu_activities, rank_clocks
CREATE OR REPLACE MACRO kernel_timeline_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to show [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to show [default: all]
    only_steps BIGINT[] := NULL,  -- steps to show [default: all, inside and outside steps]
    window_from_ns BIGINT := 0,  -- start of the window
    window_until_ns BIGINT := NULL,  -- end of the window [default: end of the last activity]
    min_dur_ns BIGINT := 0  -- shortest duration to show
) AS TABLE
WITH
activities AS (
    SELECT
        a.job,
        a.rank,
        a.device,
        a.stream,
        coalesce(aligned_ns(a.start_ns, c.local_ns, c.reference_ns, c.gain), a.start_ns)
            AS start_ns,
        a.event_id,
        a.dur_ns,
        a.kind,
        a.short_name AS name,
        a.step,
        a.process_group_name AS process_group,
        c.local_ns IS NOT NULL AS is_aligned
    FROM gpu_activities AS a
    LEFT JOIN rank_clocks(only_jobs) AS c ON c.job = a.job AND c.rank = a.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
starts AS (
    SELECT job, min(start_ns) AS first_start_ns
    FROM activities
    GROUP BY job
)
SELECT
    a.job,
    a.rank,
    a.device,
    a.stream,
    a.start_ns,
    a.event_id,
    a.start_ns - s.first_start_ns AS from_start_ns,
    a.dur_ns,
    a.kind,
    a.name,
    a.step,
    a.process_group,
    a.is_aligned
FROM activities AS a
JOIN starts AS s ON s.job = a.job
WHERE (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
  AND (only_steps IS NULL OR list_contains(only_steps, a.step))
  AND a.dur_ns >= min_dur_ns
  AND (
    a.start_ns - s.first_start_ns + a.dur_ns > window_from_ns
    OR a.start_ns - s.first_start_ns >= window_from_ns
  )
  AND (window_until_ns IS NULL OR a.start_ns - s.first_start_ns < window_until_ns)
ORDER BY a.job, a.rank, a.device, a.stream, a.start_ns, a.event_id;
