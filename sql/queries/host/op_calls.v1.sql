-- Each call of an operator, with the GPU activities launched in it.
--
-- A GPU activity counts for a call if it was launched inside the call on the call's thread, by the
-- call itself or by any operator inside it. So if calls are nested, an activity counts for the call
-- that launched it and for every call around that call.
--
--     1 aten::linear   [=======================================)
--     2 aten::mm           [=================)
--     launches                    [==)              [==)
--     GPU                               [=======)         [===)
--
--     1   num_kernels 2, kernel_dur_sum_ns 8 + 4, kernel_span_ns 22
--     2   num_kernels 1, kernel_dur_sum_ns 8, kernel_span_ns 8
--
-- These three figures are 0 for a call without activities. `gpu_utilization_frac` is
-- kernel_dur_sum_ns divided by kernel_span_ns. The fraction is NULL if the span is 0. Gaps between
-- the call's activities lower the fraction. Overlapping activities of the call raise the fraction,
-- so it can be above 1.
--
-- `only_steps` selects calls by the step in which they begin. All activities launched in a selected
-- call count, even if their launch began in another step.
--
-- `parent_id` is the operation directly around the call on its thread. This operation can also be
-- an annotation or a Python function.
--
-- `forward_event_id` is set for calls in a backward pass. Such a call, or an operator around it,
-- computes the gradients of an operator of the forward pass. `forward_event_id` is this forward
-- operator.
--
-- HTA's CallGraph also has num_kernels, kernel_dur_sum and kernel_span, with these differences:
--
--   * HTA has them for every event, not only for operators.
--   * In HTA, a step or `## backward ##` of the main thread also counts what the backward thread
--     launches during this time.
--   * HTA counts synchronisations as kernels.
--   * HTA leaves out stream 0, which AMD GPUs use.
--   * HTA leaves out Triton operators that have an argument `stream`.
--   * In traces that HTA's class TraceAnalysis loads, all spans are wrong, because it shifts starts
--     but not ends.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: operators
-- returns:
--   job                   VARCHAR  -      run of a program
--   rank                  INTEGER  -      rank of the process
--   event_id              BIGINT   -      the call
--   name                  VARCHAR  -      name of the operator
--   step                  BIGINT   -      step in which it begins; NULL outside steps
--   start_ns              BIGINT   ns     its start
--   dur_ns                BIGINT   ns     its duration on the host
--   depth                 INTEGER  -      number of operations around it on its thread; 0 for the
--                                         outermost
--   parent_id             BIGINT   -      operation directly around it; NULL for the outermost
--   num_kernels           BIGINT   -      GPU activities launched in it: kernels, copies and
--                                         memsets
--   kernel_dur_sum_ns     BIGINT   ns     sum of these activities' durations
--   kernel_span_ns        BIGINT   ns     start of the first of these activities to end of the last
--                                         one
--   gpu_utilization_frac  DOUBLE   0-1    kernel_dur_sum_ns / kernel_span_ns; can be above 1
--   input_dims            VARCHAR  -      sizes of its inputs, as JSON
--   input_types           VARCHAR  -      types of its inputs, as JSON
--   is_backward           BOOLEAN  -      whether it is part of a backward pass
--   forward_event_id      BIGINT   -      its operator of the forward pass; NULL if not known
-- check: dur_ns >= 0 AND depth >= 0
-- check: (parent_id IS NULL) = (depth = 0)
-- check: num_kernels >= 0 AND kernel_dur_sum_ns >= 0 AND kernel_span_ns >= 0
-- check: num_kernels > 0 OR (kernel_dur_sum_ns = 0 AND kernel_span_ns = 0)
-- check: kernel_dur_sum_ns <= num_kernels * kernel_span_ns
-- check: gpu_utilization_frac >= 0
-- reads: deep_launches, deep_operators, deep_ranks, gpu_activities, host_calls, is_operator,
--   launched_in_deep_ops, launched_in_ops
CREATE OR REPLACE MACRO op_calls_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL,  -- steps to list [default: the whole trace]
    name_contains VARCHAR := NULL,  -- only names that contain this; case matters [default: all]
    min_kernels INTEGER := 0  -- only calls with at least this many GPU activities
) AS TABLE
WITH
deep AS MATERIALIZED (
    FROM deep_operators(only_jobs, only_ranks)
),
ops AS MATERIALIZED (
    SELECT o.job, o.rank, o.event_id, o.op_id, NULL::BIGINT AS group_number
    FROM host_calls AS o
    LEFT JOIN deep_ranks(only_jobs, only_ranks) AS d ON d.job = o.job AND d.rank = o.rank
    WHERE (d.job IS NULL OR o.event_id < 0)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
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
FROM host_calls AS o
LEFT JOIN kernels
    ON kernels.job = o.job AND kernels.rank = o.rank AND kernels.event_id = o.event_id
WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
  AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
  AND (only_steps IS NULL OR list_contains(only_steps, o.step))
  AND (name_contains IS NULL OR contains(o.name, name_contains))
  AND is_operator(o.cat)
  AND coalesce(kernels.num_kernels, 0) >= min_kernels
ORDER BY o.job, o.rank, o.event_id;
