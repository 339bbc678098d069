-- The jobs, with facts from their traces and tags: one row per job.
--
-- If the tags of a job's ranks differ, the least value counts, in text order. The time at which a
-- job ran is that of its traces' clock, or else its tag `time`. It is not the time at which a file
-- was written, since copying a file changes that.
--
-- reads: job_tags, told_instant, traces
CREATE OR REPLACE VIEW jobs AS
WITH
tags_of_jobs AS (
    SELECT
        job,
        map_from_entries(list((tag, value) ORDER BY tag)) AS tags,
        max(value) FILTER (tag = 'model') AS model,
        max(value) FILTER (tag = 'team') AS team,
        max(value) FILTER (tag = 'host') AS host,
        max(value) FILTER (tag = 'time') AS told_time
    FROM job_tags
    GROUP BY job
),
traced AS (
    SELECT
        job,
        -- No trace is from before 2000. Earlier times count from an unknown origin.
        min(start_ns) FILTER (start_ns >= 946_684_800_000_000_000) AS first_ns,
        count(*) AS rank_count,
        max(world_size) AS world_size,
        count(DISTINCT host) AS host_count,
        min(host) AS host,
        min(device_name) AS device_name,
        sum(event_count) AS event_count
    FROM traces
    GROUP BY job
)
SELECT
    traced.job,
    coalesce(
        make_timestamp(traced.first_ns // 1000),
        told_instant(tags_of_jobs.told_time)
    ) AS started_at,                                              -- UTC; NULL if not known
    tags_of_jobs.model,                                           -- the tag
    tags_of_jobs.team,                                            -- the tag
    coalesce(tags_of_jobs.host, traced.host) AS host,             -- the tag, else the first by name
    traced.rank_count,                                            -- ranks in the archive
    traced.world_size,                                            -- ranks that the job had
    traced.host_count,                                            -- different ones that traces name
    traced.device_name,                                           -- the first by name
    traced.event_count::BIGINT AS event_count,
    coalesce(tags_of_jobs.tags, MAP {}::MAP(VARCHAR, VARCHAR)) AS tags
FROM traced
LEFT JOIN tags_of_jobs ON tags_of_jobs.job = traced.job;
