-- One row per thing that changed_times compares: cause, thing, name and inside.
--
-- For kernels, inside has the names of the operators that launch the kernel. For collectives,
-- messages, operators and annotations, inside is NULL.
--
--     kernels    rows of kernels_in_contexts
--     contexts   rows of named_contexts
--     names      name and name_hash of all operators
--     transfers  rows of timed_transfers
--     fetches    rows of timed_fetches
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
