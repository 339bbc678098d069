-- How long kernels take in each step, as changed_times takes it, by kernel_hash; in a stratum are
-- those of an operator, context, shape and rank. What communicates also waits: transfers tell.
--
-- `kernels` are rows of kernels_in_contexts. Left out are those of strata that are not among the
-- `steady` ones, and those that are launched more or less often, rows of changed_rates.
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
