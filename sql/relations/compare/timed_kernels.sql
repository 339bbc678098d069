-- How long kernels take in each step, by kernel_hash, as input of changed_times.
--
-- A stratum holds the kernels of one operator, context, shape and rank. Communication kernels are
-- left out, since they also wait. timed_transfers has the time without waits. `kernels` are rows of
-- kernels_in_contexts. Kernels are left out if their stratum is not in `steady`, and if they are
-- launched more or less often: `changed`, rows of changed_rates.
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
