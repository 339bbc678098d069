-- Loading data takes no time on the host.
SELECT number, 0 AS delay_ns
FROM job_edges
WHERE bound_by = 'data_loading'
