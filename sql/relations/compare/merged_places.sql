-- One row per pair of elements of two merged sequences, and per element without a partner.
--
--     sequences  side (base or test) and place of each element: its position on the side
--     all_pairs  base_place, test_place and relation of each pair
--
-- Returns base_place, test_place, relation, and the sort keys pairs_until, turn and place. If an
-- element has no partner, its relation is removed (base) or inserted (test).
--
-- In the order of the three sort keys, each pair is followed by the removed elements between this
-- pair and the next pair. Then come the inserted elements between the two pairs, and then the next
-- pair.
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
