-- Each call of an operator, with the GPU work launched in it.
--
-- A GPU activity is of a call where it was launched inside it on its thread, by the call itself or
-- by any operator in it: in its subtree. So it is of several calls, one inside the other.
--
--     1 aten::linear   [=======================================)
--     2 aten::mm           [=================)
--     launches                    [==)              [==)
--     GPU                               [=======)         [===)
--
--     1   num_kernels 2, kernel_dur_sum_ns 8 + 4, kernel_span_ns 22
--     2   num_kernels 1, kernel_dur_sum_ns 8, kernel_span_ns 8
--
-- The three figures are 0 for a call without activities. `gpu_utilization_frac` is the share of the
-- span that is kernel time: below 1 where the GPU had to wait, or did something else in between;
-- above 1 where activities of the call ran at once. Selected steps are those in which the calls
-- begin; whatever is in a call counts, whatever step it is in.
--
-- `parent_id` is whatever is around the call on its thread, also an annotation or a Python
-- function. `forward_event_id` is the operator of the forward pass whose gradients the call is
-- there to compute, or to whose backward pass an operator around it belongs.
--
-- HTA's CallGraph has num_kernels, kernel_dur_sum and kernel_span of every event, not only of
-- operators, and counts in a step or `## backward ##` of the main thread what the backward thread
-- launches meanwhile. It takes synchronisations for kernels, and nothing on stream 0, where AMD's
-- run; operators of Triton with a `stream` are missing; and of traces that TraceAnalysis loaded all
-- spans are wrong, as it moves starts but not ends.
--
-- since: 0.1
-- grain: job, rank, event_id
-- returns:
--   job                   VARCHAR  -      run of a program
--   rank                  INTEGER  -      rank of the process
--   event_id              BIGINT   -      the call
--   name                  VARCHAR  -      name of the operator
--   step                  BIGINT   -      step in which it begins
--   start_ns              BIGINT   ns     its start
--   dur_ns                BIGINT   ns     its duration on the host
--   depth                 INTEGER  -      its place in the stack of its thread, 0 for the outermost
--   parent_id             BIGINT   -      what called it; NULL for the outermost
--   num_kernels           BIGINT   -      GPU activities launched in it: kernels, copies, memsets
--   kernel_dur_sum_ns     BIGINT   ns     sum of these activities' durations
--   kernel_span_ns        BIGINT   ns     start of the first to end of the last of them
--   gpu_utilization_frac  DOUBLE   0-1    kernel_dur_sum_ns / kernel_span_ns; more where some run
--                                         at once
--   input_dims            VARCHAR  -      sizes of its inputs, as JSON
--   input_types           VARCHAR  -      types of its inputs, as JSON
--   is_backward           BOOLEAN  -      whether it is of a backward pass
--   forward_event_id      BIGINT   -      operator of the forward pass that it belongs to
-- check: dur_ns >= 0 AND depth >= 0
-- check: (parent_id IS NULL) = (depth = 0)
-- check: num_kernels >= 0 AND kernel_dur_sum_ns >= 0 AND kernel_span_ns >= 0
-- check: num_kernels > 0 OR (kernel_dur_sum_ns = 0 AND kernel_span_ns = 0)
-- check: kernel_dur_sum_ns <= num_kernels * kernel_span_ns
-- check: gpu_utilization_frac >= 0
-- reads: deep_launches, deep_operators, deep_ranks, gpu_activities, host_ops, is_operator,
--   launched_in_deep_ops, launched_in_ops
CREATE OR REPLACE MACRO op_calls_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL,  -- steps to list [default: all, also outside steps]
    name_contains VARCHAR := NULL,  -- only names that contain this; case matters [default: all]
    min_kernels INTEGER := 0  -- calls with fewer GPU activities are left out
) AS TABLE
WITH
deep AS MATERIALIZED (
    FROM deep_operators(only_jobs, only_ranks)
),
ops AS MATERIALIZED (
    SELECT o.job, o.rank, o.event_id, o.op_id, NULL::BIGINT AS group_number
    FROM host_ops AS o
    ANTI JOIN deep_ranks(only_jobs, only_ranks) AS d ON d.job = o.job AND d.rank = o.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND is_operator(o.cat)
),
activities AS (
    SELECT a.job, a.rank, a.op_id, a.start_ns, a.dur_ns, a.end_ns
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND a.op_id IS NOT NULL
),
deep_launched AS MATERIALIZED (
    FROM deep_launches(activities, deep)
),
launched AS (
    SELECT job, rank, event_id, activity_count, activity_ns, first_start_ns, last_end_ns
    FROM launched_in_ops(activities, ops)
    UNION ALL
    SELECT job, rank, event_id, activity_count, activity_ns, first_start_ns, last_end_ns
    FROM launched_in_deep_ops(deep_launched, deep)
    WHERE activity_count > 0
),
kernels AS (
    SELECT
        job,
        rank,
        event_id,
        sum(activity_count)::BIGINT AS num_kernels,
        sum(activity_ns)::BIGINT AS kernel_dur_sum_ns,
        max(last_end_ns) - min(first_start_ns) AS kernel_span_ns
    FROM launched
    GROUP BY job, rank, event_id
)
SELECT
    o.job,
    o.rank,
    o.event_id,
    o.name,
    o.step,
    o.start_ns,
    o.dur_ns,
    o.depth,
    o.parent_id,
    coalesce(kernels.num_kernels, 0) AS num_kernels,
    coalesce(kernels.kernel_dur_sum_ns, 0) AS kernel_dur_sum_ns,
    coalesce(kernels.kernel_span_ns, 0) AS kernel_span_ns,
    kernels.kernel_dur_sum_ns / nullif(kernels.kernel_span_ns, 0) AS gpu_utilization_frac,
    o.input_dims,
    o.input_types,
    o.is_backward,
    o.forward_id AS forward_event_id
FROM host_ops AS o
LEFT JOIN kernels
    ON kernels.job = o.job AND kernels.rank = o.rank AND kernels.event_id = o.event_id
WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
  AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
  AND (only_steps IS NULL OR list_contains(only_steps, o.step))
  AND (name_contains IS NULL OR contains(o.name, name_contains))
  AND is_operator(o.cat)
  AND coalesce(kernels.num_kernels, 0) >= min_kernels
ORDER BY o.job, o.rank, o.event_id;
