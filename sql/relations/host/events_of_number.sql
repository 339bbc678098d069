-- The host operation or GPU activity with the event_id `of_event`: at most one row per rank.
--
-- `of_rank`: the rank to search (NULL: all).
-- `only_jobs`: jobs to search (NULL: all).
--
-- Returns rank_number (a number per job and rank), job, rank, op_id and activity_id. If the event
-- is a host operation, op_id is `of_event`, and activity_id is NULL. If the event is a GPU
-- activity, activity_id is `of_event`, and op_id is the event_id of the activity's launch.
--
-- reads: gpu_activities, host_calls
CREATE OR REPLACE MACRO events_of_number(of_event, of_rank, only_jobs) AS TABLE
SELECT row_number() OVER (ORDER BY job, rank) AS rank_number, *
FROM (
    SELECT o.job, o.rank, o.event_id AS op_id, NULL::BIGINT AS activity_id
    FROM host_calls AS o
    WHERE o.event_id = of_event
      AND (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
    UNION ALL
    SELECT
        a.job,
        a.rank,
        coalesce(a.recorded_id, a.launch_id) AS op_id,
        a.event_id AS activity_id
    FROM gpu_activities AS a
    WHERE a.event_id = of_event
      AND (of_rank IS NULL OR a.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
);
