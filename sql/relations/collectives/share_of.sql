-- The number of elements of a collective's input or output that belong to the rank at `place` in
-- the group.
--
-- `nelems`: the number of elements of the input or output
-- `splits`: how many rows of the tensor each place has. Without splits, all shares are equal
-- `place`: position of the rank in the group's list of ranks, from 1
-- `rank_count`: the number of ranks in the group
CREATE OR REPLACE MACRO share_of(nelems, splits, place, rank_count) AS
CASE
    WHEN len(splits) > 0 AND list_sum(splits) = 0 THEN 0
    WHEN len(splits) > 0 THEN (nelems::HUGEINT * splits[place] // list_sum(splits))::BIGINT
    ELSE nelems // rank_count
END;
