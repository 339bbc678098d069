-- A hash of a job's traces. It changes if a trace is ingested again, since the trace then has
-- another id. It is an aggregate over a job's rows of traces.
CREATE OR REPLACE MACRO traces_hash_of(trace, at_rank) AS
md5(string_agg(trace, ',' ORDER BY at_rank));
