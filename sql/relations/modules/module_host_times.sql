-- One row per place in the model (path_number): the host time of the module's calls.
--
-- `calls`: rows of module_calls.
-- `numbered_calls`: place (the call's number in module_calls) and path_number of each call.
--
-- Only calls with is_picked count. self_ns is the time of the calls without the time of the module
-- calls inside them. example_event_id is the lowest event_id of the calls.
--
-- reads: covered_times
CREATE OR REPLACE MACRO module_host_times(calls, numbered_calls) AS TABLE
WITH
-- The calls directly inside each call. covered_times computes their union, since two of these
-- calls can cross.
inside_calls AS (
    SELECT outer_one.place AS group_id, inner_one.start_ns, inner_one.end_ns
    FROM query_table(calls) AS inner_one
    JOIN query_table(calls) AS outer_one
        ON outer_one.rank_number = inner_one.rank_number
        AND outer_one.event_id = inner_one.module_id
)
SELECT
    n.path_number,
    count(*) AS call_count,
    sum(c.dur_ns) AS total_ns,
    sum(c.dur_ns - coalesce(inside.covered_ns, 0)) AS self_ns,
    coalesce(min(c.event_id) FILTER (c.event_id >= 0), min(c.event_id)) AS example_event_id
FROM query_table(calls) AS c
JOIN query_table(numbered_calls) AS n ON n.place = c.place
LEFT JOIN covered_times(inside_calls) AS inside ON inside.group_id = c.place
WHERE c.is_picked
GROUP BY n.path_number;
