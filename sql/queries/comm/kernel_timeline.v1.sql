-- GPU activities of each stream and rank in a time window, on aligned clocks.
--
-- The result can be drawn as a picture with one lane per stream. Times are converted to the clock
-- of the rank's reference rank, as in clock_offsets, so that the ends of a collective line up
-- across ranks. If a rank's clock is not aligned, its times stay on its own clock, and is_aligned
-- is false.
--
-- window_from_ns and window_until_ns are counted from the start of the job's first activity.
-- only_ranks and only_steps do not change this start. The query shows activities that start before
-- window_until_ns and end after window_from_ns. An activity that starts and ends at window_from_ns
-- is shown, too.
--
-- HTA's plot_timeline draws the DataFrame of one rank. HTA does not align the clocks of ranks.
--
-- since: 0.1
-- grain: job, rank, device, stream, start_ns, event_id
-- needs: gpu_activities
-- returns:
--   job            VARCHAR  -   run of a program
--   rank           INTEGER  -   rank of the process
--   device         BIGINT   -   GPU, as the process numbers it
--   stream         BIGINT   -   stream on the device
--   start_ns       BIGINT   ns  start of the activity, on the reference rank's clock
--   event_id       BIGINT   -   event_id of the activity
--   from_start_ns  BIGINT   ns  start of the activity, counted from the start of the job's first
--                               activity
--   dur_ns         BIGINT   ns  duration of the activity, on the rank's own clock
--   kind           VARCHAR  -   computation, communication or memory
--   category       VARCHAR  -   category of the activity, as in category_breakdown
--   name           VARCHAR  -   short name of the kernel, copy or memset
--   step           BIGINT   -   step in which the activity was launched; NULL outside steps
--   process_group  VARCHAR  -   name of the process group, if the activity is a collective or
--                               message
--   is_aligned     BOOLEAN  -   whether the rank's clock is aligned
-- check: from_start_ns >= 0 OR from_start_ns + dur_ns > 0
-- check: dur_ns >= 0
-- reads: aligned_ns, categories_by_rules, category_of_kind, gpu_activities, operator_names_of,
--   rank_clocks
CREATE OR REPLACE MACRO kernel_timeline_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to show [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to show [default: all]
    only_steps BIGINT[] := NULL,  -- steps to show [default: the whole trace]
    window_from_ns BIGINT := 0,  -- ns; start of the window
    window_until_ns BIGINT := NULL,  -- ns; end of the window [default: end of the last activity]
    min_dur_ns BIGINT := 0  -- ns; shorter activities are left out
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
        a.name AS kernel_name,
        a.short_name AS name,
        a.op_id,
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
),
shown AS (
    SELECT a.*, a.start_ns - s.first_start_ns AS from_start_ns, o.operator_name
    FROM activities AS a
    JOIN starts AS s ON s.job = a.job
    LEFT JOIN operator_names_of(only_jobs, only_ranks) AS o
        ON o.job = a.job AND o.rank = a.rank AND o.op_id = a.op_id
    WHERE (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
      AND a.dur_ns >= min_dur_ns
      AND (
        a.start_ns - s.first_start_ns + a.dur_ns > window_from_ns
        OR a.start_ns - s.first_start_ns >= window_from_ns
      )
      AND (window_until_ns IS NULL OR a.start_ns - s.first_start_ns < window_until_ns)
)
SELECT
    s.job,
    s.rank,
    s.device,
    s.stream,
    s.start_ns,
    s.event_id,
    s.from_start_ns,
    s.dur_ns,
    s.kind,
    category_of_kind(s.kind, r.category) AS category,
    s.name,
    s.step,
    s.process_group,
    s.is_aligned
FROM shown AS s
LEFT JOIN categories_by_rules(shown) AS r
    ON r.kernel_name IS NOT DISTINCT FROM s.kernel_name
    AND r.operator_name IS NOT DISTINCT FROM s.operator_name
ORDER BY s.job, s.rank, s.device, s.stream, s.start_ns, s.event_id;
