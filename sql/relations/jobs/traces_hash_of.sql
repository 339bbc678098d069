-- Tells the traces of a job from those that it had before: one that was ingested anew has another
-- id. An aggregate over a job's rows of traces.
CREATE OR REPLACE MACRO traces_hash_of(trace, at_rank) AS
md5(string_agg(trace, ',' ORDER BY at_rank));
