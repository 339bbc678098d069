-- Whether two jobs can be compared at all, and what the comparison cannot tell.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
--     name        what it asks                                                   where it is not so
--     gpu         do both run on the same kind of GPU                            prevents
--     world_size  have both programs as many ranks                               prevents
--     activities  does either have GPU activities that the other has not         prevents
--     steps       have both steps, or neither; three at least to know noise      prevents; weakens
--     shapes      did the operators run on the same shapes; are these recorded   prevents; weakens
--     ranks       are as many ranks in the archive                               weakens
--     stacks      did the profiler record Python's stacks in both, which costs   weakens
--     traces      were both traces read whole                                    weakens
--
-- Shapes prevent where less than half of either side's calls have a counterpart in the other, with
-- the name and shapes of one there, and where only one side has operators. A single operator on
-- other shapes is a cause, in diff_causes.
-- What either side does not tell is no reason: NULL.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: name
-- returns:
--   name        VARCHAR  -  what is compared
--   base_value  VARCHAR  -  what the base has
--   test_value  VARCHAR  -  what the test has
--   effect      VARCHAR  -  none; weakens: figures are to be read with care; prevents: they compare
--                           different things
--   reason      VARCHAR  -  why, in words; NULL for none
-- check: effect IN ('none', 'weakens', 'prevents')
-- check: (reason IS NULL) = (effect = 'none')
CREATE OR REPLACE MACRO comparability_v1(
    base_job VARCHAR := NULL,  -- job that was before; NULL means the first by name
    test_job VARCHAR := NULL,  -- job to compare with it; NULL means the last by name
    base_ranks INTEGER[] := NULL,  -- ranks of the base; NULL means all
    test_ranks INTEGER[] := NULL,  -- ranks of the test; NULL means all
    base_steps BIGINT[] := NULL,  -- steps of the base; NULL means all, and what is outside steps
    test_steps BIGINT[] := NULL  -- steps of the test; likewise
) AS TABLE
WITH
sides AS MATERIALIZED (
    FROM compared_sides(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
picked_traces AS MATERIALIZED (
    SELECT sides.side, t.*
    FROM traces AS t
    JOIN sides ON sides.job = t.job
    WHERE sides.ranks IS NULL OR list_contains(sides.ranks, t.rank)
),
of_traces AS (
    SELECT
        side,
        string_agg(DISTINCT device_name, ', ' ORDER BY device_name) AS gpu,
        max(world_size) AS world_size,
        count(*) AS rank_count,
        sum(gpu_activity_count) AS activity_count,
        sum(quarantined_count) AS quarantined_count,
        count(*) FILTER (status <> 'complete') AS broken_count
    FROM picked_traces
    GROUP BY side
),
sampled AS (
    FROM compared_steps(
        steps, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    )
),
of_steps AS (
    SELECT side, count(DISTINCT step) AS step_count
    FROM sampled
    GROUP BY side
),
calls AS MATERIALIZED (
    SELECT
        hash(o.name, o.input_dims) AS shaped,
        o.input_dims IS NOT NULL AS has_shapes,
        o.cat = 'python_function' AS is_stack,
        is_of_side(o.job, o.rank, o.step, base_job_of(base_job), base_ranks, base_steps) AS is_base,
        is_of_side(o.job, o.rank, o.step, test_job_of(test_job), test_ranks, test_steps) AS is_test
    FROM host_ops AS o
    WHERE is_compared(o.job, base_job, test_job)
      AND (is_operator(o.cat) OR o.cat = 'python_function')
),
kinds AS MATERIALIZED (
    SELECT
        shaped,
        has_shapes,
        is_stack,
        count(*) FILTER (is_base) AS base_times,
        count(*) FILTER (is_test) AS test_times
    FROM calls
    GROUP BY shaped, has_shapes, is_stack
),
of_calls AS (
    SELECT
        'base' AS side,
        coalesce(sum(base_times) FILTER (has_shapes), 0) AS shaped_count,
        coalesce(sum(base_times) FILTER (NOT is_stack), 0) AS op_count,
        coalesce(sum(base_times) FILTER (is_stack), 0) AS frame_count,
        coalesce(sum(base_times) FILTER (has_shapes AND test_times > 0), 0) AS common_count
    FROM kinds
    UNION ALL
    SELECT
        'test' AS side,
        coalesce(sum(test_times) FILTER (has_shapes), 0) AS shaped_count,
        coalesce(sum(test_times) FILTER (NOT is_stack), 0) AS op_count,
        coalesce(sum(test_times) FILTER (is_stack), 0) AS frame_count,
        coalesce(sum(test_times) FILTER (has_shapes AND base_times > 0), 0) AS common_count
    FROM kinds
),
facts AS MATERIALIZED (
    SELECT
        t.*,
        coalesce(s.step_count, 0) AS step_count,
        c.shaped_count,
        c.op_count,
        c.frame_count,
        c.common_count
    FROM of_traces AS t
    LEFT JOIN of_steps AS s ON s.side = t.side
    JOIN of_calls AS c ON c.side = t.side
),
facts_of_two AS (
    SELECT b AS base, t AS test
    FROM facts AS b
    JOIN facts AS t ON b.side = 'base' AND t.side = 'test'
),
verdicts AS (
    SELECT
        1 AS place,
        'gpu' AS name,
        base.gpu AS base_value,
        test.gpu AS test_value,
        CASE WHEN base.gpu <> test.gpu THEN 'prevents' ELSE 'none' END AS effect,
        'they ran on different GPUs' AS said
    FROM facts_of_two
    UNION ALL BY NAME
    SELECT
        2 AS place,
        'world_size' AS name,
        base.world_size::VARCHAR AS base_value,
        test.world_size::VARCHAR AS test_value,
        CASE WHEN base.world_size <> test.world_size THEN 'prevents' ELSE 'none' END AS effect,
        'the programs have different numbers of ranks' AS said
    FROM facts_of_two
    UNION ALL BY NAME
    SELECT
        3 AS place,
        'activities' AS name,
        base.activity_count::VARCHAR AS base_value,
        test.activity_count::VARCHAR AS test_value,
        CASE
            WHEN (base.activity_count > 0) <> (test.activity_count > 0) THEN 'prevents'
            ELSE 'none'
        END AS effect,
        'only one of them has GPU activities' AS said
    FROM facts_of_two
    UNION ALL BY NAME
    SELECT
        4 AS place,
        'steps' AS name,
        base.step_count::VARCHAR AS base_value,
        test.step_count::VARCHAR AS test_value,
        CASE
            WHEN (base.step_count > 0) <> (test.step_count > 0) THEN 'prevents'
            WHEN least(base.step_count, test.step_count) < 3 THEN 'weakens'
            ELSE 'none'
        END AS effect,
        CASE
            WHEN (base.step_count > 0) <> (test.step_count > 0)
            THEN 'only one of them has steps (ProfilerStep annotations)'
            WHEN base.step_count = 0
            THEN 'without steps, counts and times depend on how long was recorded'
            ELSE 'less than three steps hardly tell how much a step varies'
        END AS said
    FROM facts_of_two
    UNION ALL BY NAME
    SELECT
        5 AS place,
        'shapes' AS name,
        base.shaped_count::VARCHAR AS base_value,
        test.shaped_count::VARCHAR AS test_value,
        CASE
            WHEN (base.op_count > 0) <> (test.op_count > 0) THEN 'prevents'
            WHEN (base.shaped_count > 0) <> (test.shaped_count > 0) THEN 'weakens'
            WHEN 2 * base.common_count < base.shaped_count THEN 'prevents'
            WHEN 2 * test.common_count < test.shaped_count THEN 'prevents'
            ELSE 'none'
        END AS effect,
        CASE
            WHEN (base.op_count > 0) <> (test.op_count > 0)
            THEN 'only one of them has operators'
            WHEN (base.shaped_count > 0) <> (test.shaped_count > 0)
            THEN 'only one of them has the shapes of inputs (record_shapes)'
            ELSE concat(
                'only ',
                round(
                    100 * least(
                        base.common_count / nullif(base.shaped_count, 0),
                        test.common_count / nullif(test.shaped_count, 0)
                    )
                )::BIGINT,
                ' % of the operators of one ran on shapes that the other has'
            )
        END AS said
    FROM facts_of_two
    UNION ALL BY NAME
    SELECT
        6 AS place,
        'ranks' AS name,
        base.rank_count::VARCHAR AS base_value,
        test.rank_count::VARCHAR AS test_value,
        CASE WHEN base.rank_count <> test.rank_count THEN 'weakens' ELSE 'none' END AS effect,
        'the archive has different numbers of their ranks' AS said
    FROM facts_of_two
    UNION ALL BY NAME
    SELECT
        7 AS place,
        'stacks' AS name,
        base.frame_count::VARCHAR AS base_value,
        test.frame_count::VARCHAR AS test_value,
        CASE
            WHEN (base.frame_count > 0) <> (test.frame_count > 0) THEN 'weakens'
            ELSE 'none'
        END AS effect,
        'only one was recorded with Python''s stacks (with_stack), which slows the host' AS said
    FROM facts_of_two
    UNION ALL BY NAME
    SELECT
        8 AS place,
        'traces' AS name,
        concat(base.broken_count, ' incomplete', ', ' || base.quarantined_count || ' events lost')
            AS base_value,
        concat(test.broken_count, ' incomplete', ', ' || test.quarantined_count || ' events lost')
            AS test_value,
        CASE
            WHEN base.broken_count > 0 OR test.broken_count > 0
                OR base.quarantined_count > 0 OR test.quarantined_count > 0
            THEN 'weakens'
            ELSE 'none'
        END AS effect,
        'some of the traces could not be read whole' AS said
    FROM facts_of_two
)
SELECT
    name,
    base_value,
    test_value,
    effect,
    CASE WHEN effect <> 'none' THEN said END AS reason
FROM verdicts
WHERE jobs_are_there(base_job, test_job)
ORDER BY place;
