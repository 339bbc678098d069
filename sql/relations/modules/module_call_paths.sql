-- One row per call of an nn.Module, with the path of module names that leads to the call.
--
-- `calls`: rows of module_calls.
--
-- Returns place (the call's number in module_calls), rank_number, event_id, name, depth, path and
-- around_path. `path` has the names of the modules around the call, from outer to inner, and then
-- the call's own name, joined by /. around_path is `path` without the call's own name. `depth` is 0
-- for the outermost.
CREATE OR REPLACE MACRO module_call_paths(calls) AS TABLE
WITH RECURSIVE
-- A call in a backward pass can be without a module around it. The macro then takes the last
-- earlier call of the same name that is not in a backward pass, and uses the module around that
-- call. If that call has no module around it either, -1 stands for none, since arg_max skips NULL.
around_calls AS (
    SELECT
        place,
        rank_number,
        event_id,
        name,
        CASE
            WHEN module_id IS NULL AND is_backward
            THEN nullif(
                arg_max(coalesce(module_id, -1), place) FILTER (NOT is_backward) OVER (
                    PARTITION BY rank_number, name ORDER BY place ROWS UNBOUNDED PRECEDING
                ),
                -1
            )
            ELSE module_id
        END AS around_id
    FROM query_table(calls)
),
call_paths AS (
    SELECT
        place,
        rank_number,
        event_id,
        name,
        0 AS depth,
        NULL::VARCHAR AS around_path,
        name AS path
    FROM around_calls
    WHERE around_id IS NULL
    UNION ALL
    SELECT
        c.place,
        c.rank_number,
        c.event_id,
        c.name,
        around.depth + 1 AS depth,
        around.path AS around_path,
        concat(around.path, '/', c.name) AS path
    FROM call_paths AS around
    JOIN around_calls AS c
        ON c.rank_number = around.rank_number AND c.around_id = around.event_id
)
FROM call_paths;
