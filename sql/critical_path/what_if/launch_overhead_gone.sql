-- Calls that launch take no time on the host, and what they launch could begin at once.
SELECT number, 0 AS delay_ns
FROM job_edges
WHERE why = 'launch' OR is_launch
