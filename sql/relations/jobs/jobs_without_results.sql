-- One row per job that has no current stored result of a query: job, event_count and traces_hash.
--
-- `of_query`: name of the query with its version, as in stored_results
--
-- reads: stored_results, traces, traces_hash_of
CREATE OR REPLACE MACRO jobs_without_results(of_query) AS TABLE
SELECT
    t.job,
    sum(t.event_count)::BIGINT AS event_count,
    traces_hash_of(t.trace_id, t.rank) AS traces_hash
FROM traces AS t
WHERE t.job NOT IN (SELECT k.job FROM stored_results AS k WHERE k.query = of_query)
GROUP BY t.job;
