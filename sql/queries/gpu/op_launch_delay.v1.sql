-- Mean delays from ATen operator to launch, and from launch to kernel.
--
-- An ATen operator is one whose name begins with `aten::`. A launch belongs to the innermost ATen
-- operator around it on its thread, even if other operators, annotations or Python functions are
-- between the operator and the launch. Launches outside ATen operators do not count. Calls without
-- a launch of their own do not count.
--
--     aten::linear   [=======================================)
--     aten::mm           [=================)
--     launches                 [a=)               [b=) [c=)
--     GPU                            [==a==)              [=b=)[c=)
--     aten::mm           |-----|-----|
--     aten::linear   |----------------------------|-------|
--
-- Launch a belongs to aten::mm, launches b and c belong to aten::linear. Only the first launch of a
-- call sets the two delays of the call. The first delay runs from the operator's start to the
-- launch's start. The second delay runs from the launch's start to the start of the launch's first
-- activity. The second delay is negative if the clocks of host and GPU disagree by more than the
-- true delay.
--
-- Calls of an operator share a row if the names of their activities (kernels, copies and memsets)
-- are the same, in the order of their starts. Means are rounded to whole ns.
--
-- HTA's get_aten_op_kernels_and_delay differs:
--   * In HTA, a launch belongs to an ATen operator that was open during the whole launch, even if
--     the operator is on another thread. If there are several, the one that began last counts.
--   * The result of a rank also includes the calls of the ranks before it.
--   * It recognises kernel launches by name. It does not recognise launches of HIP or of CUDA
--     graphs.
--   * It leaves out copies and memsets.
--   * It fails if it finds no launch, or if a launch has no kernel or more than one.
--
-- since: 0.1
-- grain: job, rank, operator, sequence
-- needs: launches, operators
-- returns:
--   job                       VARCHAR  -      run of a program
--   rank                      INTEGER  -      rank of the process
--   operator                  VARCHAR  -      name of the operator, such as aten::mm
--   sequence                  VARCHAR  -      names of a call's own activities, joined by ` | `
--   count                     BIGINT   count  calls of the operator
--   mean_op_to_launch_ns      BIGINT   ns     operator's start to its first launch's start
--   mean_launch_to_kernel_ns  BIGINT   ns     first launch's start to its first activity's start
-- check: count > 0
-- check: mean_op_to_launch_ns >= 0
-- check: prefix(operator, 'aten::')
-- reads: gpu_activities, host_ops, is_operator
CREATE OR REPLACE MACRO op_launch_delay_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH RECURSIVE
picked AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.event_id,
        a.name,
        a.start_ns,
        a.launch_id,
        a.launch_start_ns,
        a.op_id
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
      AND a.launch_id IS NOT NULL
      AND a.op_id IS NOT NULL
),
ops AS MATERIALIZED (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.op_id,
        o.start_ns,
        CASE WHEN prefix(o.name, 'aten::') THEN o.name END AS operator
    FROM host_ops AS o
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND is_operator(o.cat)
),
-- For an innermost operator that is not ATen's, the operators around it up to the first that is.
around AS (
    SELECT DISTINCT ops.job, ops.rank, ops.event_id AS innermost_id, ops.op_id AS event_id
    FROM picked
    JOIN ops
        ON ops.job = picked.job
        AND ops.rank = picked.rank
        AND ops.event_id = picked.op_id
    WHERE ops.operator IS NULL AND ops.op_id IS NOT NULL
    UNION
    SELECT around.job, around.rank, around.innermost_id, ops.op_id AS event_id
    FROM around
    JOIN ops
        ON ops.job = around.job
        AND ops.rank = around.rank
        AND ops.event_id = around.event_id
    WHERE ops.operator IS NULL AND ops.op_id IS NOT NULL
),
-- Names are long, but few. With a number for each, sequences are short lists until the end.
names AS MATERIALIZED (
    SELECT name, row_number() OVER (ORDER BY name) AS number
    FROM (SELECT DISTINCT name FROM picked)
),
launched AS (
    SELECT
        a.job,
        a.rank,
        ops.event_id AS call_id,
        ops.operator,
        ops.start_ns AS op_start_ns,
        a.launch_id,
        a.launch_start_ns,
        a.start_ns,
        a.event_id,
        names.number
    FROM picked AS a
    JOIN names ON names.name IS NOT DISTINCT FROM a.name
    LEFT JOIN around
        ON around.job = a.job
        AND around.rank = a.rank
        AND around.innermost_id = a.op_id
    JOIN ops
        ON ops.job = a.job
        AND ops.rank = a.rank
        AND ops.event_id = coalesce(around.event_id, a.op_id)
    WHERE ops.operator IS NOT NULL
),
calls AS (
    SELECT
        job,
        rank,
        call_id,
        operator,
        op_start_ns,
        count(*) AS activity_count,
        min(number) AS number,
        min({
            'launch_start_ns': launch_start_ns,
            'launch_id': launch_id,
            'start_ns': start_ns
        }) AS first_launch
    FROM launched
    GROUP BY job, rank, call_id, operator, op_start_ns
),
-- Sorting lists is slow. Most calls have a single activity and need no sorting.
longer AS (
    SELECT a.job, a.rank, a.call_id, list(a.number ORDER BY a.start_ns, a.event_id) AS numbers
    FROM launched AS a
    JOIN calls
        ON calls.job = a.job
        AND calls.rank = a.rank
        AND calls.call_id = a.call_id
    WHERE calls.activity_count > 1
    GROUP BY a.job, a.rank, a.call_id
),
by_numbers AS (
    SELECT
        calls.job,
        calls.rank,
        calls.operator,
        coalesce(longer.numbers, [calls.number]) AS numbers,
        count(*) AS count,
        sum(calls.first_launch.launch_start_ns - calls.op_start_ns) AS op_to_launch_ns,
        sum(calls.first_launch.start_ns - calls.first_launch.launch_start_ns)
            AS launch_to_kernel_ns
    FROM calls
    LEFT JOIN longer
        ON longer.job = calls.job
        AND longer.rank = calls.rank
        AND longer.call_id = calls.call_id
    GROUP BY ALL
),
numbered AS MATERIALIZED (
    SELECT *, row_number() OVER () AS row_id
    FROM by_numbers
),
-- Keyed by row_id: to repeat a long list beside each of its numbers would be quadratic.
sequences AS (
    SELECT places.row_id, string_agg(coalesce(names.name, ''), ' | ' ORDER BY place) AS sequence
    FROM (
        SELECT row_id, unnest(numbers) AS number, generate_subscripts(numbers, 1) AS place
        FROM numbered
    ) AS places
    JOIN names ON names.number = places.number
    GROUP BY places.row_id
)
SELECT
    job,
    rank,
    operator,
    sequence,
    sum(count)::BIGINT AS count,
    round(sum(op_to_launch_ns) / sum(count))::BIGINT AS mean_op_to_launch_ns,
    round(sum(launch_to_kernel_ns) / sum(count))::BIGINT AS mean_launch_to_kernel_ns
FROM numbered
JOIN sequences ON sequences.row_id = numbered.row_id
GROUP BY job, rank, operator, sequence
ORDER BY job, rank, count DESC, operator, sequence;
