-- Which parts occur more or less often per whole that contains them.
--
-- `parts` has cause, whole, part, sample and times: how often the part occurs in a step. `wholes`
-- has cause, whole, side, sample and times. A part is compared in the wholes that both sides have,
-- by its rate: how often it occurs per whole. Wholes of different causes are different wholes. If
-- the rate is equal in all steps of each side, any difference is beyond noise and one step is
-- enough. Returns the parts whose rate differs.
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
