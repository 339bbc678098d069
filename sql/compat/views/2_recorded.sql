-- The tables as they are in the archive. The views of these tables are replaced by what HTA keeps.
CREATE OR REPLACE VIEW recorded_events AS
FROM events_by_rank
UNION ALL BY NAME
FROM events_by_job;

CREATE OR REPLACE VIEW recorded_host_ops AS
FROM host_ops_by_rank
UNION ALL BY NAME
FROM host_ops_by_job;

CREATE OR REPLACE VIEW recorded_activities AS
FROM gpu_activities_by_rank
UNION ALL BY NAME
FROM gpu_activities_by_job;
