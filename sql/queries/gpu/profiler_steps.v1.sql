-- Start, duration, GPU time and operator count of each rank's steps.
--
-- A step is the host annotation `ProfilerStep#N`. If a rank has no such annotation, the annotations
-- that its framework puts around an iteration are its steps, then an annotation that repeats, then
-- the launches of CUDA graphs. `hta-sql ingest --steps REGEX` names others. Without numbers in
-- their names, the first step of a rank is 0. If a rank has several annotations with the same
-- number, the step runs from the first start to the last end. An operator belongs to the step in
-- which it begins. A GPU activity belongs to the step in which its launch begins, regardless of its
-- device and of how late it runs. If a step launches nothing, gpu_busy_ns, gpu_span_ns and
-- kernel_count are 0.
--
--     host    [== ProfilerStep#3 ==)
--     launch     |   |
--     GPU            [===)   [========)
--
--     gpu_busy_ns 4 + 9 = 13, gpu_span_ns 17, kernel_count 2
--
-- HTA's get_profiler_steps returns only the step numbers, in one list for all ranks.
--
-- since: 0.1
-- grain: job, rank, step
-- needs: steps
-- returns:
--   job           VARCHAR  -      run of a program
--   rank          INTEGER  -      rank of the process
--   step          BIGINT   -      N of ProfilerStep#N, or the number of another step
--   start_ns      BIGINT   ns     start on the host
--   dur_ns        BIGINT   ns     duration on the host
--   gpu_busy_ns   BIGINT   ns     time with at least one GPU activity, on any device
--   gpu_span_ns   BIGINT   ns     first start to last end of its GPU activities
--   kernel_count  BIGINT   count  GPU activities: kernels, copies and memsets
--   op_count      BIGINT   count  operators that begin in the step
--   step_name     VARCHAR  -      name of the annotation, or of the graph launch, that marks it
--   marked_by     VARCHAR  -      what marks the rank's steps: PyTorch, vLLM, ..., annotation,
--                                 graph launch or --steps
-- check: dur_ns >= 0
-- check: gpu_busy_ns BETWEEN 0 AND gpu_span_ns
-- check: kernel_count > 0 OR gpu_span_ns = 0
-- check: op_count >= 0
-- reads: activities_in_steps, busy_times, host_ops, is_operator, step_spans
CREATE OR REPLACE MACRO profiler_steps_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL  -- steps to list [default: all]
) AS TABLE
WITH
picked AS (
    FROM step_spans(only_jobs, only_ranks, only_steps)
),
activities AS (
    FROM activities_in_steps(only_jobs, only_ranks, only_steps)
),
ops AS (
    SELECT o.job, o.rank, o.step, count(*) AS op_count
    FROM host_ops AS o
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, o.step))
      AND o.step IS NOT NULL
      AND is_operator(o.cat)
    GROUP BY o.job, o.rank, o.step
)
SELECT
    picked.job,
    picked.rank,
    picked.step,
    picked.start_ns,
    picked.step_ns AS dur_ns,
    coalesce(gpu.busy_ns, 0) AS gpu_busy_ns,
    coalesce(gpu.span_ns, 0) AS gpu_span_ns,
    coalesce(gpu.activity_count, 0) AS kernel_count,
    coalesce(ops.op_count, 0) AS op_count,
    picked.step_name,
    picked.marked_by
FROM picked
LEFT JOIN busy_times(activities) AS gpu
    ON gpu.job = picked.job AND gpu.rank = picked.rank AND gpu.step = picked.step
LEFT JOIN ops
    ON ops.job = picked.job AND ops.rank = picked.rank AND ops.step = picked.step
ORDER BY picked.job, picked.rank, picked.step;
