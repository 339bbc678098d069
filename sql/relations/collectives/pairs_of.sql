-- The calls of collectives and messages, as pairs_v1 has them: stored ones, and computed ones of
-- jobs of which none are stored.
--
-- Planning what computes them takes most of a small query's time. So an archive that is opened, and
-- knows which jobs have none, puts in this macro's place one that reads less. `jobs` are the jobs
-- to look at; NULL means all.
--
-- reads: jobs_without_results, pairs_v1, stored_pairs
CREATE OR REPLACE MACRO pairs_of(jobs) AS TABLE
WITH
lacking AS MATERIALIZED (
    SELECT coalesce(list(w.job), []) AS lacking_jobs
    FROM jobs_without_results('pairs_v1') AS w
    WHERE (jobs IS NULL OR list_contains(jobs, w.job))
)
SELECT s.*
FROM stored_pairs AS s
WHERE (jobs IS NULL OR list_contains(jobs, s.job))
UNION ALL BY NAME
FROM pairs_v1((SELECT l.lacking_jobs FROM lacking AS l));
