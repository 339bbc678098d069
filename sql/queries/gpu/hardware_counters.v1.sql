-- Hardware counters of each kernel, with the operators around its launch.
--
-- If CUPTI's range profiler is on, the trace records ranges. A range is an event of category
-- `cuda_profiler_range`, usually one per kernel. Its arguments are counters. Each row is one
-- counter of one range. Arguments that are not finite numbers have no row. If a range records a
-- counter twice, the last value counts.
--
-- The trace does not record which call launched the kernel of a range. Kernels run one after the
-- other while counters are read. The query therefore pairs the rank's n-th range, by start, with
-- the rank's n-th launch, by start.
--
-- A launch here is a runtime or driver call whose name contains `Launch` and then `Kernel`:
-- cudaLaunchKernel, cuLaunchKernelEx, hipLaunchKernel, ... If several such calls have the same
-- correlation id, only the outermost counts.
--
-- If a rank's numbers of ranges and launches differ, launch_id, step and the operators are NULL.
-- The numbers differ in these cases, for example:
--   * A range covers several kernels.
--   * A kernel is measured in several passes.
--   * The trace begins between a launch and its kernel.
--
--     host      [aten::conv2d==========)  [aten::relu_==)
--                 [aten::add_)               [launch 2)
--                  [launch 1)
--     ranges        [range 1=================)[range 2=================)
--
--     range 1   op_stack aten::conv2d;aten::add_
--     range 2   op_stack aten::relu_
--
-- `only_steps` selects ranges by the step in which their launch began. A range without a launch is
-- in no step. Pairs are always made from all ranges and launches of the rank, even if only some
-- steps are selected.
--
-- HTA's get_cupti_counter_data_with_operators has one column per counter. It recognises only
-- cudaLaunchKernel as a launch. It leaves out ranks with different numbers of launches and ranges,
-- and fails if a launch is in no operator.
--
-- since: 0.1
-- grain: job, rank, event_id, counter
-- needs: counters
-- returns:
--   job        VARCHAR  -   run of a program
--   rank       INTEGER  -   rank of the process
--   event_id   BIGINT   -   event_id of the range
--   counter    VARCHAR  -   name of the counter
--   value      DOUBLE   -   value of the counter, in its own unit
--   kernel     VARCHAR  -   name of the range; the kernel's name if the profiler knew it
--   start_ns   BIGINT   ns  start of the range
--   dur_ns     BIGINT   ns  duration of the range in the trace; not measured: the profiler
--                           gives all ranges the same distance in time
--   launch_id  BIGINT   -   event_id of the launch; NULL if not known
--   step       BIGINT   -   step in which the launch began
--   top_op     VARCHAR  -   outermost operator around the launch
--   bottom_op  VARCHAR  -   innermost operator around the launch
--   op_stack   VARCHAR  -   all operators around the launch, outermost first, joined by ;
-- check: isfinite(value)
-- check: dur_ns >= 0
-- check: launch_id IS NOT NULL OR (step IS NULL AND op_stack IS NULL)
-- check: (top_op IS NULL) = (op_stack IS NULL) AND (bottom_op IS NULL) = (op_stack IS NULL)
-- check: op_stack IS NULL OR (prefix(op_stack, top_op) AND suffix(op_stack, bottom_op))
-- reads: events, host_ops, is_operator, is_runtime_call
CREATE OR REPLACE MACRO hardware_counters_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL  -- steps to list [default: the whole trace]
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
-- Operators and launches, only of ranks with counters, since few ranks have them.
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
-- Nested calls have the same correlation id; the outermost one is the launch.
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
-- The operators around launches, each once, even if it is around several launches.
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
-- The stacks grow from the outermost operator inwards.
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
