-- A permutation of the numbers from 0 to 999982: cubes modulo the prime 999983.
CREATE OR REPLACE MACRO mixed(number) AS number * number * number % 999983;

-- A hash of a collective and a rank. If a trace has durations in whole microseconds, several ranks
-- may come last to a collective together. Then the rank with the lowest hash counts as last. This
-- rank is the same in all queries. Low rank numbers are not preferred.
CREATE OR REPLACE MACRO turn_of(collective_id, rank) AS
    mixed((collective_id * 7919 + rank::BIGINT * 104729) % 999983);
