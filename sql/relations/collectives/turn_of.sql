-- Of each number from 0 to 999982 another one of these: a prime's remainders of cubes.
CREATE OR REPLACE MACRO mixed(number) AS number * number * number % 999983;

-- A number as good as drawn for a rank in a collective. Of ranks that came last to it together, as
-- they do where durations are whole microseconds, the one with the least is taken: in all queries
-- the same, and none more often for its rank.
CREATE OR REPLACE MACRO turn_of(collective_id, rank) AS
    mixed((collective_id * 7919 + rank::BIGINT * 104729) % 999983);
