-- The host time of nn.Modules per path_number.
--
-- Returns the number of calls, their time, their time outside of other modules, and the lowest
-- event_id of the calls. `calls` are rows of module_calls. `numbered_calls` have their place and
-- path_number.
--
-- reads: covered_times
CREATE OR REPLACE MACRO module_host_times(calls, numbered_calls) AS TABLE
WITH
-- covered_times takes the union of these calls, in case two of them cross.
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
    min(c.event_id) AS example_event_id
FROM query_table(calls) AS c
JOIN query_table(numbered_calls) AS n ON n.place = c.place
LEFT JOIN covered_times(inside_calls) AS inside ON inside.group_id = c.place
WHERE c.is_picked
GROUP BY n.path_number;
