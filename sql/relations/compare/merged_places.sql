-- Two sequences as one: base_place, test_place, relation, and the order pairs_until, turn, place.
--
-- Elements without a partner are removed or inserted. They come after the pair before them, the
-- base's first. `sequences` have side and place. `all_pairs` have base_place, test_place and
-- relation.
CREATE OR REPLACE MACRO merged_places(sequences, all_pairs) AS TABLE
WITH
base_side AS (
    SELECT
        s.*,
        p.test_place,
        p.relation,
        count(p.test_place) OVER (ORDER BY s.place) AS pairs_until
    FROM query_table(sequences) AS s
    LEFT JOIN query_table(all_pairs) AS p ON p.base_place = s.place
    WHERE s.side = 'base'
),
test_side AS (
    SELECT s.*, p.relation, count(p.base_place) OVER (ORDER BY s.place) AS pairs_until
    FROM query_table(sequences) AS s
    LEFT JOIN query_table(all_pairs) AS p ON p.test_place = s.place
    WHERE s.side = 'test'
),
test_alone AS (
    SELECT * FROM test_side WHERE relation IS NULL
)
SELECT
    b.pairs_until,
    CASE WHEN b.relation IS NULL THEN 1 ELSE 0 END AS turn,
    b.place,
    coalesce(b.relation, 'removed') AS relation,
    b.place AS base_place,
    b.test_place
FROM base_side AS b
UNION ALL
SELECT pairs_until, 2 AS turn, place, 'inserted' AS relation, NULL, place AS test_place
FROM test_alone;
