-- One row per kernel name, stratum and sample: the number of kernels and their time.
--
-- Returns columns as in the parameter `calls` of changed_times. thing is the kernel_hash. A stratum
-- holds the kernels of one context, shape and rank_place: the stratum of kernels_in_contexts is
-- divided by rank_place. A sample is one step on one side (base or test), with all ranks of the
-- side. The macro leaves out three kinds of kernels:
--   * communication kernels, since their durations contain waits; timed_transfers has the transfer
--     times without waits
--   * kernels whose stratum in kernels_in_contexts is not in `steady`
--   * kernels that are launched more or less often per call: the rows of `changed`
--
--     kernels  rows of kernels_in_contexts
--     steady   stratum 0, and the strata of operators whose calls per call of the caller are the
--              same in base and test
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
