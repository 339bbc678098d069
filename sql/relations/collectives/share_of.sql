-- The number of elements of a message for the rank at `place` of `rank_count`. Splits count rows of
-- a tensor, but messages count elements. Without splits, all shares are equal.
CREATE OR REPLACE MACRO share_of(nelems, splits, place, rank_count) AS
CASE
    WHEN len(splits) > 0 AND list_sum(splits) = 0 THEN 0
    WHEN len(splits) > 0 THEN (nelems::HUGEINT * splits[place] // list_sum(splits))::BIGINT
    ELSE nelems // rank_count
END;
