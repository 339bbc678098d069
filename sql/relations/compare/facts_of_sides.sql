-- One row with the structs base and test: facts about each side of a comparison. The facts show
-- whether the sides can be compared.
--
-- There is no row if a side has no traces. Both structs have these fields:
--
--     side               base or test
--     gpu                distinct device names of the side, joined by commas
--     world_size         largest world_size in the traces
--     rank_count         number of ranks in the archive
--     activity_count     number of GPU activities, in steps or not
--     quarantined_count  number of elements of the traces that are in quarantine
--     broken_count       number of traces that could not be read completely
--     step_count         number of different steps
--     op_count           number of operator calls
--     frame_count        number of calls of Python functions
--     shaped_count       number of operator calls with recorded shapes
--     common_count       number of operator calls with recorded shapes for which the other side has
--                        a call of the same name on the same shapes
--
-- All fields cover only the chosen ranks of the side. The last five fields also cover only the
-- chosen steps.
--
-- reads: compared_jobs, compared_sides, compared_steps, host_ops, is_compared, is_of_side,
--   is_operator, traces
CREATE OR REPLACE MACRO facts_of_sides(
    base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
) AS TABLE
WITH
sides AS MATERIALIZED (
    FROM compared_sides(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
of_traces AS (
    SELECT
        sides.side,
        -- An empty device_name stands for an unknown device.
        string_agg(
            DISTINCT nullif(t.device_name, ''), ', ' ORDER BY nullif(t.device_name, '')
        ) AS gpu,
        max(t.world_size) AS world_size,
        count(*) AS rank_count,
        sum(t.gpu_activity_count) AS activity_count,
        sum(t.quarantined_count) AS quarantined_count,
        count(*) FILTER (t.status <> 'complete') AS broken_count
    FROM traces AS t
    JOIN sides ON sides.job = t.job
    WHERE sides.ranks IS NULL OR list_contains(sides.ranks, t.rank)
    GROUP BY sides.side
),
sampled AS (
    FROM compared_steps(
        base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    )
),
of_steps AS (
    SELECT side, count(DISTINCT step) AS step_count
    FROM sampled
    GROUP BY side
),
calls AS (
    SELECT
        hash(o.name, o.input_dims) AS shaped,
        o.input_dims IS NOT NULL AS has_shapes,
        o.cat = 'python_function' AS is_stack,
        is_of_side(o.job, o.rank, o.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(o.job, o.rank, o.step, j.test, test_ranks, test_steps) AS is_test
    FROM host_ops AS o
    CROSS JOIN compared_jobs(base_job, test_job) AS j
    WHERE is_compared(o.job, j.base, j.test, base_job, test_job)
      AND (is_operator(o.cat) OR o.cat = 'python_function')
),
kinds AS (
    SELECT
        shaped,
        has_shapes,
        is_stack,
        count(*) FILTER (is_base) AS base_times,
        count(*) FILTER (is_test) AS test_times
    FROM calls
    GROUP BY shaped, has_shapes, is_stack
),
of_calls AS MATERIALIZED (
    SELECT
        {
            'op_count': coalesce(sum(base_times) FILTER (NOT is_stack), 0),
            'frame_count': coalesce(sum(base_times) FILTER (is_stack), 0),
            'shaped_count': coalesce(sum(base_times) FILTER (has_shapes), 0),
            'common_count': coalesce(sum(base_times) FILTER (has_shapes AND test_times > 0), 0)
        } AS base,
        {
            'op_count': coalesce(sum(test_times) FILTER (NOT is_stack), 0),
            'frame_count': coalesce(sum(test_times) FILTER (is_stack), 0),
            'shaped_count': coalesce(sum(test_times) FILTER (has_shapes), 0),
            'common_count': coalesce(sum(test_times) FILTER (has_shapes AND base_times > 0), 0)
        } AS test
    FROM kinds
),
facts AS (
    SELECT
        t.*,
        coalesce(s.step_count, 0) AS step_count,
        unnest(CASE WHEN t.side = 'base' THEN c.base ELSE c.test END)
    FROM of_traces AS t
    LEFT JOIN of_steps AS s ON s.side = t.side
    CROSS JOIN of_calls AS c
)
SELECT
    any_value(f) FILTER (f.side = 'base') AS base,
    any_value(f) FILTER (f.side = 'test') AS test
FROM facts AS f
HAVING base IS NOT NULL AND test IS NOT NULL;
