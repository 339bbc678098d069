-- Collectives and messages move no slower than the median of those alike.
--
-- Collectives or messages are alike if name, format, numbers of elements and group size are equal.
-- Those of all jobs in the archive are compared by their transfers. A transfer is the time that is
-- left when the last member has come. If not all members are in the graph, a rank keeps the time
-- that it waited.
SELECT e.number, e.delay_ns - (m.transfer_ns - u.transfer_ns) AS delay_ns
FROM job_edges AS e
JOIN job_members AS m ON m.rank = e.rank AND m.event_id = e.event_id
JOIN usual_transfers AS u
    ON u.name = m.name
    AND u.dtype IS NOT DISTINCT FROM m.dtype
    AND u.in_nelems IS NOT DISTINCT FROM m.in_nelems
    AND u.out_nelems IS NOT DISTINCT FROM m.out_nelems
    AND u.member_total IS NOT DISTINCT FROM m.member_total
WHERE e.bound_by = 'gpu_communication_bound' AND m.transfer_ns > u.transfer_ns
