-- One row per rank: job, rank, host (the machine named in its trace) and device_name (its GPU).
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- reads: traces
CREATE OR REPLACE MACRO machines(jobs) AS TABLE
SELECT t.job, t.rank, min(t.host) AS host, min(t.device_name) AS device_name
FROM traces AS t
WHERE (jobs IS NULL OR list_contains(jobs, t.job))
GROUP BY t.job, t.rank;
