-- One row per part whose rate differs between base and test beyond noise.
--
-- A part occurs in a whole. The rate of a part is how often the part occurs per whole. For example,
-- the part is an operator, and the whole is the operator that calls it. The rate is then the number
-- of calls of the part per call of the whole.
--
--     parts   cause, whole, part, sample and times: how often the part occurs in the sample
--     wholes  cause, whole, side, sample and times: how often the whole occurs in the sample
--
-- A sample is one step on one side (base or test), with all ranks of the side. The macro computes a
-- rate per sample. The macro compares only wholes that occur on both sides. Wholes of different
-- causes are different wholes, even if their hashes are equal. Two special cases:
--   * If a rate does not vary within the base and does not vary within the test, the noise is 0.
--     Any difference between the two sides then counts.
--   * If each side has only one sample, the noise is 0, too.
--
-- Returns cause, whole, part, base_rate and test_rate. Both rates are trimmed means over
-- the samples.
--
-- reads: noise_t, standard_error, trimmed_mean
CREATE OR REPLACE MACRO changed_rates(parts, wholes) AS TABLE
WITH
common AS (
    SELECT cause, whole
    FROM query_table(wholes)
    GROUP BY cause, whole
    HAVING min(side) < max(side)
),
kinds AS (
    SELECT DISTINCT p.cause, p.whole, p.part
    FROM query_table(parts) AS p
    JOIN common ON common.cause = p.cause AND common.whole = p.whole
),
rates AS (
    SELECT k.cause, k.whole, k.part, w.side, coalesce(p.times, 0) / w.times AS rate
    FROM kinds AS k
    JOIN query_table(wholes) AS w ON w.cause = k.cause AND w.whole = k.whole
    LEFT JOIN query_table(parts) AS p
        ON p.cause = k.cause AND p.whole = k.whole AND p.part = k.part AND p.sample = w.sample
),
sides AS (
    SELECT
        cause,
        whole,
        part,
        list(rate ORDER BY rate) FILTER (side = 'base') AS base_sorted,
        list(rate ORDER BY rate) FILTER (side = 'test') AS test_sorted
    FROM rates
    GROUP BY cause, whole, part
),
compared AS (
    SELECT
        cause,
        whole,
        part,
        trimmed_mean(base_sorted) AS base_rate,
        trimmed_mean(test_sorted) AS test_rate,
        coalesce(
            noise_t(base_sorted, test_sorted) * standard_error(base_sorted, test_sorted), 0
        ) AS noise
    FROM sides
)
SELECT cause, whole, part, base_rate, test_rate
FROM compared
-- Means of equal rates may differ in the last bit.
WHERE abs(test_rate - base_rate) > noise + 1e-9;
