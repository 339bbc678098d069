-- The GPU activities of the archive's traces.
--
-- A data file counts only while traces.parquet names it: a trace appears and disappears as a whole.
CREATE OR REPLACE VIEW gpu_activities_by_rank AS
FROM gpu_activities_schema();

CREATE OR REPLACE VIEW gpu_activities_by_job AS
FROM gpu_activities_schema();

CREATE OR REPLACE VIEW gpu_activities AS
FROM gpu_activities_by_rank
UNION ALL BY NAME
FROM gpu_activities_by_job;
