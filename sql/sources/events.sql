-- Every event of the archive's traces.
--
-- A data file counts only while traces.parquet names it: a trace appears and disappears as a whole.
CREATE OR REPLACE VIEW events_by_rank AS
FROM events_schema();

CREATE OR REPLACE VIEW events_by_job AS
FROM events_schema();

CREATE OR REPLACE VIEW events AS
FROM events_by_rank
UNION ALL BY NAME
FROM events_by_job;
