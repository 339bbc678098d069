-- One row per thing whose time per call changed enough to be reported as a cause.
--
-- The things are kernels (cause kernel_time), kinds of collectives and messages (transfer),
-- operators (host_time) and DataLoader annotations (data_loading). A change has to reach two
-- limits, in either direction:
--
--     cause                    |ratio - 1|  |slower_ns|
--     kernel_time, transfer    3 %          0.1 % of the base's mean step
--     host_time, data_loading  10 %         1 % of the base's mean step
--
-- If the base has no steps, kernel_time and transfer have only the first limit. host_time and
-- data_loading then have no rows.
--
--     changed   rows of changed_times
--     things    rows of names_of_things
--     numbered  rows of numbered_steps
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
