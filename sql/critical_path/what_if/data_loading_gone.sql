-- Loading data takes no time on the host.
--
-- The scenario assumes that all data is there before the window needs it. So the edges that are
-- bound by data loading take no time.
SELECT number, 0 AS delay_ns
FROM job_edges
WHERE bound_by = 'data_loading'
