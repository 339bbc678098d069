-- A number of an event, as the trace gives it; NULL if it cannot be. Sums and products of possible
-- numbers fit a BIGINT.

-- The number of elements or bytes of a message: at most 2^48, more than any machine's memory.
CREATE OR REPLACE MACRO possible_size(size) AS
CASE WHEN size BETWEEN 0 AND 281_474_976_710_656 THEN size END;

-- The number of ranks in a group.
CREATE OR REPLACE MACRO possible_group_size(size) AS
CASE WHEN size BETWEEN 1 AND 1_000_000 THEN size END;

-- A rank, or the distance between ranks; -1 stands for none.
CREATE OR REPLACE MACRO possible_rank(number) AS
CASE WHEN number BETWEEN -1 AND 1_000_000 THEN number END;

-- How many rows each rank sends or receives, from the text of a list. NULL if the list is cut
-- short, or if a number in it cannot be.
CREATE OR REPLACE MACRO possible_splits(sizes) AS
CASE
    WHEN list_min(TRY_CAST(sizes AS BIGINT[])) >= 0
        AND possible_size(list_sum(TRY_CAST(sizes AS BIGINT[]))) IS NOT NULL
    THEN TRY_CAST(sizes AS BIGINT[])
    WHEN sizes = '[]' THEN []::BIGINT[]
END;
