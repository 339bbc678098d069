-- The first instant of all ranks' spans.
SELECT min(first_ns) AS first_ns
FROM hta_ranks
