-- One row per metadata event (`ph` is M) of the ranks in export_batch, which are prepared together.
CREATE OR REPLACE TEMP TABLE export_metadata AS
SELECT e.rank, e.event_id, e.cat, e.name, e.pid, e.tid, e.args, e.more
FROM events AS e
WHERE e.job = getvariable('export_job')
  AND list_contains(getvariable('export_batch'), e.rank)
  AND e.ph = 'M'
