-- Computes a hash of a job's traces. The macro is an aggregate over the job's rows in `traces`.
--
-- `trace`: the column trace_id
-- `at_rank`: the column rank
--
-- The hash changes if a trace is ingested again, because the trace then has another trace_id.
CREATE OR REPLACE MACRO traces_hash_of(trace, at_rank) AS
md5(string_agg(trace, ',' ORDER BY at_rank));
