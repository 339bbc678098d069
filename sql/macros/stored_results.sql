-- What `hta-sql materialize` has stored of jobs, and whether it is of their traces of now.

-- Tells the traces of a job from those that it had before: one that was ingested anew has another
-- id. An aggregate over a job's rows of traces.
CREATE OR REPLACE MACRO traces_hash_of(trace, at_rank) AS
md5(string_agg(trace, ',' ORDER BY at_rank));

-- The jobs of which no current result of a query is stored: job, event_count and traces_hash.
-- `of_query` is a name with its version, as in kept_results.
CREATE OR REPLACE MACRO jobs_without_results(of_query) AS TABLE
SELECT
    t.job,
    sum(t.event_count)::BIGINT AS event_count,
    traces_hash_of(t.trace_id, t.rank) AS traces_hash
FROM traces AS t
WHERE t.job NOT IN (SELECT k.job FROM kept_results AS k WHERE k.query = of_query)
GROUP BY t.job;
