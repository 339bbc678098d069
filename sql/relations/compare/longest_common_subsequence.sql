-- The longest common subsequence of two lists, as a list of pairs of positions in the two lists.
--
-- Positions count from 1, and the pairs are in ascending order. SQL cannot compute the subsequence
-- fast enough. When hta_sql opens an archive, it replaces this macro by a Python function. In
-- DuckDB's shell, the macro returns no pairs for lists without a common element. For other lists,
-- it raises an error.
CREATE OR REPLACE MACRO longest_common_subsequence(base_list, test_list) AS
CASE
    WHEN list_has_any(base_list, test_list)
    THEN error('operators are aligned by hta_sql, not in a shell: hta-sql run op_alignment ARCHIVE')
    ELSE []
END::STRUCT(base_place BIGINT, test_place BIGINT)[];

-- One row per pair of the longest common subsequence of two relations: base_place and test_place.
--
-- `base_items` and `test_items` have the columns place and key. The column place gives the order of
-- the items. Two items match if their keys are equal. A NULL key matches no key.
CREATE OR REPLACE MACRO aligned_places(base_items, test_items) AS TABLE
WITH
keys AS (
    SELECT key, row_number() OVER () AS number
    FROM (
        SELECT key FROM query_table(base_items)
        INTERSECT
        SELECT key FROM query_table(test_items)
    )
    WHERE key IS NOT NULL
),
base_common AS (
    SELECT b.place, keys.number, row_number() OVER (ORDER BY b.place) AS common_place
    FROM query_table(base_items) AS b
    JOIN keys ON keys.key = b.key
),
test_common AS (
    SELECT t.place, keys.number, row_number() OVER (ORDER BY t.place) AS common_place
    FROM query_table(test_items) AS t
    JOIN keys ON keys.key = t.key
),
pairs AS (
    SELECT unnest(
        longest_common_subsequence(
            coalesce((SELECT list(number ORDER BY place) FROM base_common), []),
            coalesce((SELECT list(number ORDER BY place) FROM test_common), [])
        )
    ) AS pair
)
SELECT b.place AS base_place, t.place AS test_place
FROM pairs AS p
JOIN base_common AS b ON b.common_place = p.pair.base_place
JOIN test_common AS t ON t.common_place = p.pair.test_place;
