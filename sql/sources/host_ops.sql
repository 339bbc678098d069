-- The host operations of the archive's traces.
--
-- A data file counts only while traces.parquet names it: a trace appears and disappears as a whole.
CREATE OR REPLACE VIEW host_ops_by_rank AS
FROM host_ops_schema();

CREATE OR REPLACE VIEW host_ops_by_job AS
FROM host_ops_schema();

CREATE OR REPLACE VIEW host_ops AS
FROM host_ops_by_rank
UNION ALL BY NAME
FROM host_ops_by_job;
