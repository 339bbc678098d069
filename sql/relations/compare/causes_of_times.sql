-- Causes kernel_time, transfer, host_time and data_loading: what takes more or less time per call.
--
-- A call on the GPU has to take at least 3 % more or less, and the difference has to be at least
-- 0.1 % of a step of the base. On the host the limits are 10 % and 1 %. If the base has no marked
-- steps, the GPU has no second limit and the host no causes. `changed` are rows of changed_times.
-- `things` have cause, thing, name and inside. `numbered` are rows of numbered_steps.
CREATE OR REPLACE MACRO causes_of_times(changed, things, numbered) AS TABLE
WITH
usual_step AS (
    SELECT avg(step_ns) FILTER (side = 'base') AS base_step_ns
    FROM query_table(numbered)
)
SELECT
    t.cause,
    n.name,
    n.inside,
    t.base_calls,
    t.test_calls,
    CASE WHEN t.cause IN ('kernel_time', 'transfer') THEN 'gpu' ELSE 'host' END AS time_of,
    t.base_ns,
    t.test_ns,
    t.slower_ns AS diff_ns,
    t.ratio - 1 AS diff_ratio
FROM query_table(changed) AS t
JOIN query_table(things) AS n ON n.cause = t.cause AND n.thing = t.thing
CROSS JOIN usual_step AS u
WHERE CASE
    WHEN t.cause IN ('kernel_time', 'transfer')
    THEN abs(t.ratio - 1) >= 0.03 AND abs(t.slower_ns) >= 0.001 * coalesce(u.base_step_ns, 0)
    ELSE abs(t.ratio - 1) >= 0.1 AND abs(t.slower_ns) >= 0.01 * u.base_step_ns
END;
