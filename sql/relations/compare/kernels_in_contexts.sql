-- Which kernels operators launch directly, per context and shape.
--
-- reads: gpu_activities, may_be_compared

-- The activities of the steps `numbered`, rows of numbered_steps, with the op_key of compared_ops.
CREATE OR REPLACE MACRO compared_activities(numbered, base_job, test_job) AS TABLE
SELECT
    s.sample,
    s.rank_place,
    (s.rank_number << 36) + a.op_id AS op_key,
    a.kind,
    a.name,
    hash(a.name) AS kernel_hash,
    a.short_name,
    a.dur_ns
FROM gpu_activities AS a
JOIN query_table(numbered) AS s
    ON s.job = a.job AND s.rank = a.rank AND s.step_key = coalesce(a.step, -1)
WHERE may_be_compared(a.job, base_job, test_job);

-- Calls and times of kernels by rank_place, stratum, kernel_hash and sample. A stratum is the
-- operators in one context and on one shape. Stratum 0 holds kernels that no operator launches.
--
-- `activities` are rows of compared_activities, `in_contexts` of ops_in_contexts.
CREATE OR REPLACE MACRO kernels_in_contexts(activities, in_contexts) AS TABLE
SELECT
    a.rank_place,
    CASE WHEN o.op_key IS NULL THEN 0::UBIGINT ELSE hash(o.context, o.dims_hash) END AS stratum,
    a.kernel_hash,
    a.sample,
    any_value(coalesce(o.context, 0::UBIGINT)) AS context,
    any_value(a.kind) AS kind,
    any_value(a.name) AS name,
    any_value(a.short_name) AS short_name,
    count(*) AS times,
    sum(a.dur_ns) AS total_ns,
    sum(a.dur_ns::DOUBLE * a.dur_ns) AS square_ns
FROM query_table(activities) AS a
LEFT JOIN query_table(in_contexts) AS o ON o.op_key = a.op_key
GROUP BY ALL;
