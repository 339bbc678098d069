-- A prime's remainders of cubes: each of 0 to 999982 once.
CREATE OR REPLACE MACRO mixed(number) AS number * number * number % 999983;

-- Whose turn it is to be taken for the last one, of ranks that came last to a collective together,
-- as they do where durations are whole microseconds: the least one's. As good as drawn, so that no
-- rank is taken more often than others, and the same in all queries.
CREATE OR REPLACE MACRO turn_of(collective_id, rank) AS
    mixed((collective_id * 7919 + rank::BIGINT * 104729) % 999983);
