-- The profiler steps of some ranks.
--
-- $ranks: the ranks.
SELECT DISTINCT step
FROM profiler_steps_v1(only_ranks := $ranks)
ORDER BY step
