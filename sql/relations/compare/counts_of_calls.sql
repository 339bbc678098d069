-- Macros that count calls, shapes and kernels: the input of changed_rates.
--
-- A part is counted per whole (see changed_rates). The column cause says what is counted:
--
--     cause    part                            whole
--     calls    calls of an operator            calls of its caller
--     shapes   calls of an operator on a       all calls of the operator
--              shape
--     kernels  launches of a kernel by an      calls of the operator on the shape
--              operator on a shape
--
-- Parameters of the macros:
--
--     calls    rows of calls_in_contexts
--     kernels  rows of kernels_in_contexts
--     samples  sample, side and rank_count. A sample is one step on one side (base or test).
--              rank_count is the number of ranks with this step

-- The `parts` of changed_rates: one row per cause, whole, part and sample.
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

-- The `wholes` of changed_rates: one row per cause, whole, side and sample.
--
-- Whole 0 is the whole of all calls and kernels outside operators. For whole 0, times is the number
-- of ranks, so that the rates are per rank.
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
