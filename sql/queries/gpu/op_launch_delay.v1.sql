-- How long ATen operators take to launch their kernels, and the kernels then to start.
--
-- A launch belongs to the innermost operator around it on its thread whose name begins with
-- `aten::`, through whatever lies between the two; launches inside no such operator count nowhere.
--
--     aten::linear   [=======================================)
--     aten::mm           [=================)                        one launch of its own
--     launches                 [==)               [==) [==)         two of aten::linear
--     GPU                            [=====)              [===)[==)
--     aten::mm           |-----|-----|
--     aten::linear   |----------------------------|-------|
--
-- The two times are those of an operator's first launch: from the operator's start to the launch's
-- start, and on to the start of the launch's first activity. The second may be negative, where the
-- clocks of host and GPU disagree. Calls of an operator whose activities have the same names in the
-- same order, by start, are one row; means are rounded to whole ns.
--
-- HTA's get_aten_op_kernels_and_delay takes the operator that began last on any thread, mixes a
-- rank's calls with those of the ranks before it, knows launches by name, none of them a copy, and
-- fails where a launch has several kernels or none.
--
-- since: 0.1
-- grain: job, rank, operator, sequence
-- returns:
--   job                       VARCHAR  -      run of a program
--   rank                      INTEGER  -      rank of the process
--   operator                  VARCHAR  -      aten::...
--   sequence                  VARCHAR  -      names of its own activities, joined by ` | `
--   count                     BIGINT   count  calls of the operator
--   mean_op_to_launch_ns      BIGINT   ns     operator's start to its first launch's start
--   mean_launch_to_kernel_ns  BIGINT   ns     this launch's start to its first activity's start
-- check: count > 0
-- check: mean_op_to_launch_ns >= 0
-- check: prefix(operator, 'aten::')
CREATE OR REPLACE MACRO op_launch_delay_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure; NULL means all
    only_ranks INTEGER[] := NULL,  -- ranks to measure; NULL means all
    only_steps BIGINT[] := NULL  -- steps to measure; NULL means all, and what runs outside steps
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
      AND o.cat IN ('cpu_op', 'Operator')
),
-- What is around an innermost operator that is not of ATen, outwards up to the first that is.
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
-- Names are long and few: numbered, a sequence is a short list until the end.
names AS MATERIALIZED (
    SELECT name, row_number() OVER (ORDER BY name) AS number
    FROM (SELECT DISTINCT name FROM picked)
),
-- To sort is slow, and most calls have one activity: what they are sorted by travels beside.
calls AS (
    SELECT
        a.job,
        a.rank,
        ops.operator,
        ops.start_ns AS op_start_ns,
        min((a.launch_start_ns, a.launch_id, a.start_ns)) AS first_launch,
        list(a.start_ns) AS starts,
        list(a.event_id) AS event_ids,
        list(names.number) AS numbers
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
    GROUP BY a.job, a.rank, ops.event_id, ops.operator, ops.start_ns
),
in_order AS (
    SELECT
        job,
        rank,
        operator,
        first_launch[1] - op_start_ns AS op_to_launch_ns,
        first_launch[3] - first_launch[1] AS launch_to_kernel_ns,
        CASE
            WHEN len(numbers) = 1 THEN numbers
            ELSE list_transform(
                list_sort(list_zip(starts, event_ids, numbers)), lambda activity: activity[3]
            )
        END AS numbers
    FROM calls
),
by_numbers AS (
    SELECT
        job,
        rank,
        operator,
        numbers,
        count(*) AS count,
        sum(op_to_launch_ns) AS op_to_launch_ns,
        sum(launch_to_kernel_ns) AS launch_to_kernel_ns
    FROM in_order
    GROUP BY job, rank, operator, numbers
),
sequences AS (
    SELECT numbers, string_agg(coalesce(names.name, ''), ' | ' ORDER BY place) AS sequence
    FROM (
        SELECT
            numbers,
            unnest(numbers) AS number,
            generate_subscripts(numbers, 1) AS place
        FROM (SELECT DISTINCT numbers FROM by_numbers)
    ) AS places
    JOIN names ON names.number = places.number
    GROUP BY numbers
)
SELECT
    job,
    rank,
    operator,
    sequence,
    sum(count)::BIGINT AS count,
    round(sum(op_to_launch_ns) / sum(count))::BIGINT AS mean_op_to_launch_ns,
    round(sum(launch_to_kernel_ns) / sum(count))::BIGINT AS mean_launch_to_kernel_ns
FROM by_numbers
JOIN sequences ON sequences.numbers = by_numbers.numbers
GROUP BY job, rank, operator, sequence
ORDER BY job, rank, count DESC, operator, sequence;
