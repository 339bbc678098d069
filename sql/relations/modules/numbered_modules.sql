-- The places in the model, numbered by first call.
--
-- Returns path_number, around_number (the place around it), rank_number, path, name and depth. Each
-- rank has one more place at the end, for activities that belong to no module. Its path is NULL.
-- `call_paths` are rows of module_call_paths.
CREATE OR REPLACE MACRO numbered_modules(call_paths) AS TABLE
WITH
paths AS (
    SELECT
        rank_number,
        path,
        min(place) AS first_place,
        min(name) AS name,
        min(depth) AS depth,
        min(around_path) AS around_path
    FROM query_table(call_paths)
    GROUP BY rank_number, path
    UNION ALL BY NAME
    SELECT DISTINCT rank_number
    FROM query_table(call_paths)
),
numbered AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY rank_number, first_place) AS path_number, *
    FROM paths
)
SELECT
    p.path_number,
    around.path_number AS around_number,
    p.rank_number,
    p.path,
    p.name,
    p.depth
FROM numbered AS p
LEFT JOIN numbered AS around
    ON around.rank_number = p.rank_number AND around.path = p.around_path;
