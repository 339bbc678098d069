-- Macros that find the kernels that operators launch directly, per context and shape.
--
-- reads: gpu_activities, may_be_compared, op_key

-- One row per GPU activity in the compared steps.
--
-- `numbered` are rows of numbered_steps. sample and rank_place are as in numbered_steps. op_key is
-- the op_key in compared_ops of the operator that launches the activity.
CREATE OR REPLACE MACRO compared_activities(numbered, base_job, test_job) AS TABLE
SELECT
    s.sample,
    s.rank_place,
    op_key(s.rank_number, a.op_id) AS op_key,
    a.kind,
    a.name,
    hash(a.name) AS kernel_hash,
    a.short_name,
    a.dur_ns
FROM gpu_activities AS a
JOIN query_table(numbered) AS s
    ON s.job = a.job AND s.rank = a.rank AND s.step_key = coalesce(a.step, -1)
WHERE may_be_compared(a.job, base_job, test_job);

-- One row per rank_place, stratum, kernel name and sample: the number of kernels and their time.
--
-- A stratum is a context (see ops_in_contexts) and a shape. The stratum holds the kernels that
-- calls of this context on this shape launch. Stratum 0 holds the kernels that no operator
-- launches. Copies and memsets count as kernels.
--
--     activities   rows of compared_activities
--     in_contexts  rows of ops_in_contexts
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
