-- Where each rank ran: job, rank, host, the machine that its trace names, and device_name, its GPU.
--
-- `jobs` are the jobs to look at; NULL means all.
--
-- reads: traces
CREATE OR REPLACE MACRO machines(jobs) AS TABLE
SELECT t.job, t.rank, min(t.host) AS host, min(t.device_name) AS device_name
FROM traces AS t
WHERE (jobs IS NULL OR list_contains(jobs, t.job))
GROUP BY t.job, t.rank;
