-- Parts of idle times, each with the span that filled most of it.
--
-- `parts`: rows of device_idle.
-- `segments`: their rows of idle_segments.
-- `only_jobs`, `only_ranks`: the jobs and ranks in `parts`; only their names are read (NULL: all).
--
-- Returns all columns of `parts`, and
--
--     next_name      name of the activity that ends the idle time
--     host_event_id  the innermost span, on the thread that launched the activity, with the most
--                    time in the part; of two with equal times, the one with the lower event_id;
--                    NULL: most of the time, no span was open, or there is no launch
--     host_name      name of that span
--
-- reads: gpu_activities, host_ops
CREATE OR REPLACE MACRO named_idle_parts(parts, segments, only_jobs, only_ranks) AS TABLE
WITH
mostly AS (
    SELECT
        part_number,
        min({'less_ns': -segment_ns, 'id': coalesce(host_event_id, -1)}).id AS host_event_id
    FROM query_table(segments)
    GROUP BY part_number
),
next_names AS (
    SELECT a.job, a.rank, a.event_id, a.name
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
),
host_names AS (
    SELECT h.job, h.rank, h.event_id, h.name
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
)
SELECT
    p.*,
    n.name AS next_name,
    h.event_id AS host_event_id,
    h.name AS host_name
FROM query_table(parts) AS p
JOIN mostly AS m ON m.part_number = p.part_number
JOIN next_names AS n
    ON n.job = p.job AND n.rank = p.rank AND n.event_id = p.event_id
LEFT JOIN host_names AS h
    ON h.job = p.job AND h.rank = p.rank AND h.event_id = m.host_event_id;
