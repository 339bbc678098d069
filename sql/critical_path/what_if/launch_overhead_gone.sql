-- Calls that launch take no time on the host, and what they launch could begin at once.
--
-- The scenario assumes that a launch costs nothing. So two kinds of edges take no time: edges
-- inside a launching call (is_launch), and edges from a launch to its activity (why = 'launch').
SELECT number, 0 AS delay_ns
FROM job_edges
WHERE why = 'launch' OR is_launch
