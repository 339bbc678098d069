-- Communication takes no time of its own; ranks still wait until the last one has come.
--
-- The scenario assumes that all communication is hidden. So each edge loses its transfer time
-- (transfer_ns). If the transfer time is not known, the edge takes no time.
SELECT e.number, e.delay_ns - coalesce(m.transfer_ns, e.delay_ns) AS delay_ns
FROM job_edges AS e
LEFT JOIN job_members AS m ON m.rank = e.rank AND m.event_id = e.event_id
WHERE e.bound_by = 'gpu_communication_bound'
