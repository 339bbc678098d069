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

-- True if all jobs have a current stored result of a query; else an error.
--
-- hta.duckdb reads stored rows in place of computing them, if all jobs have them when the file is
-- written.
--
-- `of_query`: as above
CREATE OR REPLACE MACRO results_are_current(of_query) AS (
    SELECT CASE
        WHEN count(*) = 0 THEN true
        ELSE error(concat(
            'the stored results of ', of_query, ' are older than the traces of job ', min(w.job),
            '; open hta.duckdb again, or run hta-sql materialize'
        ))
    END
    FROM jobs_without_results(of_query) AS w
);
