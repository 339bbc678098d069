-- One row per rank and place in the model, numbered in the order of first calls. A place is a path
-- of nn.Module names.
--
-- `call_paths`: rows of module_call_paths.
--
-- Returns path_number, around_number (path_number of the place around), rank_number, path, name and
-- depth. The last row of each rank has a NULL path and is for activities that belong to no module.
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
