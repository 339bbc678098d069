-- The names of the things that changed_times compares: cause, thing and name.
--
-- For kernels, inside has the operators that launch them. `kernels` are rows of
-- kernels_in_contexts, `contexts` of named_contexts. `names` has name and name_hash of operators.
-- `transfers` and `fetches` are rows of timed_transfers and timed_fetches.
CREATE OR REPLACE MACRO names_of_things(kernels, contexts, names, transfers, fetches) AS TABLE
SELECT
    'kernel_time' AS cause,
    k.kernel_hash AS thing,
    any_value(k.name) AS name,
    string_agg(DISTINCT c.name, ', ' ORDER BY c.name) AS inside
FROM query_table(kernels) AS k
LEFT JOIN query_table(contexts) AS c ON c.context = k.context
GROUP BY k.kernel_hash
UNION ALL BY NAME
SELECT 'host_time' AS cause, name_hash AS thing, name
FROM query_table(names)
UNION ALL BY NAME
SELECT DISTINCT cause, thing, name
FROM query_table(transfers)
UNION ALL BY NAME
SELECT DISTINCT cause, thing, name
FROM query_table(fetches);
