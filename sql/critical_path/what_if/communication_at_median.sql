-- Collectives and messages move no slower than the median of those alike.
--
-- The scenario compares the transfer time of each collective or message with usual_transfers: the
-- median transfer time of the same kind in all jobs of the archive. The kind is name, dtype,
-- numbers of elements and number of members. A longer transfer is shortened to the median. The time
-- that a rank waited for the last member does not change.
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
