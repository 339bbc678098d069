-- What the GPU's hardware counters read for each kernel, and the operators that launched it.
--
-- With CUPTI's range profiler on, a trace has a row of category `cuda_profiler_range` for each
-- kernel, whose arguments are counters. Here each number among them is a row; what is text, or no
-- finite number, is left out, and of a counter told twice the last counts.
--
-- These rows do not say which call launched the kernel. While counters are read kernels run one by
-- one, so the n-th of them by start belongs to the rank's n-th call by start of a runtime or driver
-- function that launches a kernel (cudaLaunchKernel, cuLaunchKernelEx, hipLaunchKernel, ...): if
-- there are as many of the ones as of the others. If not (a range of several kernels, several
-- passes over a kernel, a trace that begins between a launch and its kernel) there is no telling,
-- and launch and operators are NULL.
--
--     host      [aten::conv2d==========)  [aten::relu_==)
--                 [aten::add_)               [launch 2)
--                  [launch 1)
--     ranges        [range 1=================)[range 2=================)
--
--     range 1   aten::conv2d;aten::add_       range 2   aten::relu_
--
-- Selected steps are those in which the launch began; ranges without a launch are in none. Ranges
-- and launches are counted over the whole rank, whatever is selected.
--
-- This is HTA's get_cupti_counter_data_with_operators, which knows no launches but those of
-- cudaLaunchKernel, leaves ranks out whose numbers differ, and fails where a launch is in no
-- operator. The names of its counters are columns there.
--
-- since: 0.1
-- grain: job, rank, event_id, counter
-- returns:
--   job        VARCHAR  -   run of a program
--   rank       INTEGER  -   rank of the process
--   event_id   BIGINT   -   the range
--   counter    VARCHAR  -   name of the counter
--   value      DOUBLE   -   what it read, in the counter's own unit
--   kernel     VARCHAR  -   name of the range, which is the kernel's where the profiler knew it
--   start_ns   BIGINT   ns  start of the range
--   dur_ns     BIGINT   ns  its duration; the profiler spreads ranges evenly
--   launch_id  BIGINT   -   event_id of the call that launched the kernel; NULL: not known
--   step       BIGINT   -   step in which that call began
--   top_op     VARCHAR  -   outermost operator around the call
--   bottom_op  VARCHAR  -   innermost operator around the call
--   op_stack   VARCHAR  -   all of them, from the outermost, ';' between
-- check: isfinite(value)
-- check: dur_ns >= 0
-- check: launch_id IS NOT NULL OR (step IS NULL AND op_stack IS NULL)
-- check: (top_op IS NULL) = (op_stack IS NULL) AND (bottom_op IS NULL) = (op_stack IS NULL)
-- check: op_stack IS NULL OR (prefix(op_stack, top_op) AND suffix(op_stack, bottom_op))
-- reads: events, host_ops, is_operator, is_runtime_call
CREATE OR REPLACE MACRO hardware_counters_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL  -- steps to list [default: all, also outside steps]
) AS TABLE
WITH RECURSIVE
ranges AS (
    SELECT
        e.job,
        e.rank,
        e.event_id,
        e.name AS kernel,
        e.start_ns,
        e.dur_ns,
        CASE WHEN json_valid(e.args) THEN e.args END AS args,
        row_number() OVER (
            PARTITION BY e.job, e.rank ORDER BY e.start_ns, e.event_id
        ) AS number,
        count(*) OVER (PARTITION BY e.job, e.rank) AS range_count
    FROM events AS e
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, e.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, e.rank))
      AND e.ph = 'X'
      AND e.cat = 'cuda_profiler_range'
),
-- Operators and launches of the ranks with counters, which few have.
host AS (
    SELECT
        o.job, o.rank, o.event_id, o.cat, o.name, o.start_ns, o.dur_ns, o.step, o.op_id,
        o.correlation
    FROM host_ops AS o
    SEMI JOIN ranges ON ranges.job = o.job AND ranges.rank = o.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND (
          is_operator(o.cat)
          OR (is_runtime_call(o.cat) AND o.name LIKE '%Launch%Kernel%')
      )
),
-- Of calls inside one another, which carry the same correlation id, the outermost launched.
outermost AS (
    SELECT job, rank, event_id, step, op_id, start_ns
    FROM host
    WHERE is_runtime_call(cat)
    QUALIFY correlation IS NULL OR row_number() OVER (
        PARTITION BY job, rank, correlation ORDER BY start_ns, dur_ns DESC, event_id
    ) = 1
),
launches AS (
    SELECT
        job,
        rank,
        event_id AS launch_id,
        step,
        op_id,
        row_number() OVER (PARTITION BY job, rank ORDER BY start_ns, event_id) AS number,
        count(*) OVER (PARTITION BY job, rank) AS launch_count
    FROM outermost
),
paired AS (
    SELECT ranges.*, launches.launch_id, launches.step, launches.op_id
    FROM ranges
    LEFT JOIN launches
        ON launches.job = ranges.job
        AND launches.rank = ranges.rank
        AND launches.number = ranges.number
        AND launches.launch_count = ranges.range_count
    WHERE only_steps IS NULL OR list_contains(only_steps, launches.step)
),
ops AS (
    SELECT job, rank, event_id, name, op_id
    FROM host
    WHERE NOT is_runtime_call(cat)
),
-- The operators around launches, each once however many launches it is around.
needed AS (
    SELECT DISTINCT job, rank, op_id AS event_id
    FROM paired
    WHERE op_id IS NOT NULL
    UNION
    SELECT ops.job, ops.rank, ops.op_id AS event_id
    FROM needed
    JOIN ops
        ON ops.job = needed.job
        AND ops.rank = needed.rank
        AND ops.event_id = needed.event_id
    WHERE ops.op_id IS NOT NULL
),
needed_ops AS (
    SELECT ops.job, ops.rank, ops.event_id, ops.op_id, coalesce(ops.name, '') AS name
    FROM ops
    JOIN needed
        ON needed.job = ops.job
        AND needed.rank = ops.rank
        AND needed.event_id = ops.event_id
),
-- From the outermost in.
stacks AS (
    SELECT job, rank, event_id, name AS top_op, name AS bottom_op, name AS op_stack
    FROM needed_ops
    WHERE op_id IS NULL
    UNION ALL
    SELECT
        o.job,
        o.rank,
        o.event_id,
        s.top_op,
        o.name AS bottom_op,
        concat(s.op_stack, ';', o.name) AS op_stack
    FROM stacks AS s
    JOIN needed_ops AS o ON o.job = s.job AND o.rank = s.rank AND o.op_id = s.event_id
),
counters AS (
    SELECT
        paired.job,
        paired.rank,
        paired.event_id,
        argument.key AS counter,
        max_by(TRY_CAST(argument.value AS DOUBLE), argument.id) AS value
    FROM paired, json_each(paired.args) AS argument
    WHERE json_type(paired.args) = 'OBJECT'
      AND argument.type IN ('BIGINT', 'UBIGINT', 'DOUBLE')
      AND isfinite(TRY_CAST(argument.value AS DOUBLE))
    GROUP BY paired.job, paired.rank, paired.event_id, argument.key
)
SELECT
    paired.job,
    paired.rank,
    paired.event_id,
    counters.counter,
    counters.value,
    paired.kernel,
    paired.start_ns,
    paired.dur_ns,
    paired.launch_id,
    paired.step,
    stacks.top_op,
    stacks.bottom_op,
    stacks.op_stack
FROM paired
JOIN counters
    ON counters.job = paired.job
    AND counters.rank = paired.rank
    AND counters.event_id = paired.event_id
LEFT JOIN stacks
    ON stacks.job = paired.job
    AND stacks.rank = paired.rank
    AND stacks.event_id = paired.op_id
ORDER BY paired.job, paired.rank, paired.start_ns, paired.event_id, counters.counter;
