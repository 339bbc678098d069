-- Counts of calls for finding causes, as input of changed_rates.
--
-- The counts are how often an operator is called per call of the operator around it (calls), on
-- which shapes (shapes), and which kernels it launches on them (kernels). `calls` are rows of
-- calls_in_contexts, `kernels` of kernels_in_contexts. `samples` have sample, side and rank_count.

CREATE OR REPLACE MACRO parts_of_calls(calls, kernels) AS TABLE
SELECT 'calls' AS cause, whole, context AS part, sample, sum(times) AS times
FROM query_table(calls)
GROUP BY ALL
UNION ALL
SELECT 'shapes' AS cause, context AS whole, dims_hash AS part, sample, sum(times) AS times
FROM query_table(calls)
GROUP BY ALL
UNION ALL
SELECT 'kernels' AS cause, stratum AS whole, kernel_hash AS part, sample, sum(times) AS times
FROM query_table(kernels)
GROUP BY ALL;

-- Outside of operators, things are counted per rank.
CREATE OR REPLACE MACRO wholes_of_calls(calls, samples) AS TABLE
WITH
counted AS (
    SELECT
        unnest([
            {'cause': 'calls', 'whole': hash(c.in_hash, c.name_hash)},
            {'cause': 'shapes', 'whole': c.context},
            {'cause': 'kernels', 'whole': hash(c.context, c.dims_hash)}
        ], recursive := true),
        s.side,
        c.sample,
        c.times
    FROM query_table(calls) AS c
    JOIN query_table(samples) AS s ON s.sample = c.sample
),
outside AS (
    SELECT unnest(['calls', 'kernels']) AS cause, side, sample, rank_count
    FROM query_table(samples)
)
SELECT cause, whole, side, sample, sum(times) AS times
FROM counted
GROUP BY ALL
UNION ALL
SELECT cause, 0::UBIGINT AS whole, side, sample, rank_count AS times
FROM outside;
