-- One row per job, with facts from its traces and tags.
--
-- If the ranks of a job have different values for a tag, the first value in text order counts.
-- started_at comes from the clock of the job's traces. If the traces have no absolute times,
-- started_at comes from the tag `time`. The time at which a file was written is not used, because
-- copying a file changes that time.
--
-- shared: session
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
        -- A time before the year 2000 is not Unix time: it counts from an unknown origin.
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
    ) AS started_at,                                   -- start of the job, UTC; NULL if not known
    tags_of_jobs.model,                                -- tag `model`
    tags_of_jobs.team,                                 -- tag `team`
    coalesce(tags_of_jobs.host, traced.host) AS host,  -- tag `host`, else the traces' first host
    traced.rank_count,                                 -- ranks in the archive
    traced.world_size,                                 -- ranks that the job had
    traced.host_count,                                 -- number of hosts that the traces name
    traced.device_name,                                -- first of the device names in text order
    traced.event_count::BIGINT AS event_count,
    coalesce(tags_of_jobs.tags, MAP {}::MAP(VARCHAR, VARCHAR)) AS tags
FROM traced
LEFT JOIN tags_of_jobs ON tags_of_jobs.job = traced.job;
