-- One row per operator call with a known cost, and one row per operator without a known cost inside
-- such a call.
--
-- `called`: rows of costed_calls.
-- `shapes`: rows of costed_shapes or computing_shapes.
-- `only_jobs`, `only_ranks`: the jobs and ranks in `called`; only their operators are read (NULL:
--   all).
--
-- Returns the columns of operator_nests, which say which one of several nested calls counts.
--
-- reads: host_calls, is_operator, operator_nests
CREATE OR REPLACE MACRO counted_operators(called, shapes, only_jobs, only_ranks) AS TABLE
WITH
calls AS MATERIALIZED (
    SELECT
        c.job,
        c.rank,
        c.event_id,
        c.op_id,
        s.shape_number,
        s.flops IS NOT NULL AS has_flops,
        c.is_rerun
    FROM query_table(called) AS c
    JOIN query_table(shapes) AS s
        ON s.name = c.name
        AND s.input_dims = c.input_dims
        AND s.input_types IS NOT DISTINCT FROM c.input_types
        AND s.concrete_inputs IS NOT DISTINCT FROM c.concrete_inputs
        AND s.context IS NOT DISTINCT FROM c.context
),
ops AS (
    SELECT o.job, o.rank, o.event_id, o.op_id
    FROM host_calls AS o
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND is_operator(o.cat)
      AND o.op_id IS NOT NULL
)
FROM operator_nests(calls, ops);
