-- One row per kernel name, stratum and sample: the number of kernels and their time.
--
-- Returns columns as in the `calls` of changed_times. thing is the kernel_hash. A stratum holds the
-- kernels of one context, shape and rank_place. The macro leaves out three kinds of kernels:
--   * communication kernels, since their durations contain waits; timed_transfers has the transfer
--     times without waits
--   * kernels in strata of kernels_in_contexts that are not in `steady`
--   * kernels that are launched more or less often per call: the rows of `changed`
--
--     kernels  rows of kernels_in_contexts
--     steady   strata in which the operator's calls per call of its caller do not change
--     changed  rows of changed_rates with the cause `kernels`
CREATE OR REPLACE MACRO timed_kernels(kernels, steady, changed) AS TABLE
SELECT
    'kernel_time' AS cause,
    k.kernel_hash AS thing,
    hash(k.stratum, k.rank_place) AS stratum,
    k.sample,
    k.times,
    k.total_ns,
    k.square_ns
FROM query_table(kernels) AS k
SEMI JOIN query_table(steady) AS s ON s.stratum = k.stratum
ANTI JOIN query_table(changed) AS d ON d.whole = k.stratum AND d.part = k.kernel_hash
WHERE k.kind <> 'communication';
