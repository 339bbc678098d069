-- Time of each operator on each rank: on the host, and of its GPU activities.
--
-- A GPU activity counts for a call of an operator if it was launched inside the call on the call's
-- thread, by the call itself or by any operator inside it. Activities that other threads launch at
-- the same time count for the operators of those threads. Activities without a known launch count
-- for no operator.
--
--     aten::linear   [=======================================)
--     aten::mm           [=================)
--     launches                  [==)              [==)
--     GPU                             [=======)         [===)
--
--                    kernel_count  kernel_ns  kernel_span_ns  self_kernel_ns
--     aten::linear   2             8 + 4      22              4
--     aten::mm       1             8          8               8
--
-- `host_total_ns` is the sum of the calls' durations. A call inside another call of the same name
-- counts like any other call, so its time counts for both calls.
--
-- `host_self_ns` is host_total_ns minus the time of everything that the calls called directly:
-- operators, Python functions, annotations, runtime and driver calls. `host_self_ns` counts no time
-- twice, so operators can be compared and added up.
--
-- The kernel figures count each activity once per name. If an activity is launched in a call inside
-- another call of the same name, the activity counts for the outer call.
--
--   * `kernel_span_ns` is the time from the start of a call's first activity to the end of the
--     call's last activity, with all waiting in between. This time is summed over the calls that
--     are inside no other call of the name.
--   * `gpu_utilization_frac` is kernel_ns / kernel_span_ns. It can be above 1 if activities
--     overlap.
--   * `kernel_busy_ns` counts overlapping activities once, so it is never above kernel_span_ns.
--   * `self_kernel_ns` is the time of the activities that the calls launched themselves, without
--     the activities of operators inside them. Over all operators, `self_kernel_ns` adds up to the
--     time of all activities launched in operators.
--
-- With `by_shape`, a row has the calls with the same name, input_dims and input_types. The rules
-- above for calls of the same name then hold for the calls of a row. input_dims and input_types are
-- NULL if the profiler did not record them. With `by_strides`, the calls of a row also have the
-- same strides. A stride is the number of elements in memory from one index to the next: it shows
-- which inputs are transposed. Operators in replays of a graph have no strides.
--
-- A call in a replay of a CUDA graph counts, too, if the operator is known from the capture of the
-- graph (see host_calls). It takes no time of the host. Operators of the capture that launched
-- nothing do not count.
--
-- `only_steps` selects calls by the step in which they begin. A selected call is an outer call if
-- no other selected call of the same name is around it. Everything inside a selected call counts,
-- even if it began in another step.
--
-- op_calls says how HTA's CallGraph differs.
--
-- since: 0.1
-- grain: job, rank, name, input_dims, input_types, input_strides
-- needs: operators
-- returns:
--   job                   VARCHAR  -      run of a program
--   rank                  INTEGER  -      rank of the process
--   name                  VARCHAR  -      name of the operator
--   input_dims            VARCHAR  -      with by_shape or by_strides: sizes of its inputs, as
--                                         JSON; otherwise NULL
--   input_types           VARCHAR  -      with by_shape or by_strides: types of its inputs, as
--                                         JSON; otherwise NULL
--   input_strides         VARCHAR  -      with by_strides: strides of its inputs, as JSON;
--                                         otherwise NULL
--   count                 BIGINT   count  calls of the operator
--   host_total_ns         BIGINT   ns     sum of the calls' durations
--   host_self_ns          BIGINT   ns     host_total_ns without the time of what the calls called
--   kernel_count          BIGINT   count  GPU activities launched in the calls: kernels, copies and
--                                         memsets
--   kernel_ns             BIGINT   ns     sum of these activities' durations
--   kernel_busy_ns        BIGINT   ns     time with at least one of these activities, on any device
--   kernel_span_ns        BIGINT   ns     start of a call's first activity to end of its last,
--                                         summed over outer calls
--   self_kernel_ns        BIGINT   ns     sum of durations of the activities that the calls
--                                         launched themselves
--   gpu_utilization_frac  DOUBLE   0-1    kernel_ns / kernel_span_ns; can be above 1
--   example_event_id      BIGINT   -      the call with the lowest event_id; below 0 if all calls
--                                         are of replays
--   launching_call_count  BIGINT   count  outer calls that launched GPU activities
--   kernel_min_ns         BIGINT   ns     least kernel_ns of one of these calls; NULL: none
--   kernel_p50_ns         BIGINT   ns     median
--   kernel_p95_ns         BIGINT   ns     95th percentile
--   kernel_max_ns         BIGINT   ns     most
--   kernel_stddev_ns      BIGINT   ns     standard deviation of the sample; 0 for one call
--   recomputed_ns         BIGINT   ns     part of kernel_ns that repeats the forward pass during a
--                                         backward pass, as activation checkpointing does
--   category              VARCHAR  -      kernel category that takes most of self_kernel_ns; NULL:
--                                         the calls launched no activities themselves
-- check: count > 0
-- check: host_self_ns BETWEEN 0 AND host_total_ns
-- check: self_kernel_ns BETWEEN 0 AND kernel_ns
-- check: kernel_busy_ns BETWEEN 0 AND least(kernel_ns, kernel_span_ns)
-- check: kernel_count > 0 OR (kernel_count = 0 AND kernel_ns = 0 AND kernel_span_ns = 0)
-- check: gpu_utilization_frac >= 0
-- check: launching_call_count <= kernel_count AND (launching_call_count > 0) = (kernel_count > 0)
-- check: kernel_min_ns <= kernel_p50_ns AND kernel_p95_ns <= kernel_max_ns
-- check: kernel_max_ns <= kernel_ns
-- check: recomputed_ns BETWEEN 0 AND kernel_ns
-- reads: covered_times, deep_launches, deep_operators, deep_ranks, gpu_activities, host_calls,
--   host_ops, input_strides_of, is_operator, launched_in_deep_groups, launched_in_ops,
--   main_categories, sample_stddev
CREATE OR REPLACE MACRO op_stats_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    by_shape BOOLEAN := false,  -- one row per name, shapes and types, instead of per name
    by_strides BOOLEAN := false,  -- one row per name, shapes, types and strides
    name_contains VARCHAR := NULL  -- only names that contain this; case matters [default: all]
) AS TABLE
WITH
-- The rows, each with a list of its calls. With this list, names and shapes, which are long, are
-- read and grouped only once. Calls that are not measured are also needed, to find the calls around
-- them.
groups AS MATERIALIZED (
    SELECT
        row_number() OVER (ORDER BY job, rank, is_measured, example_event_id) AS group_number,
        *
    FROM (
        SELECT
            o.job,
            o.rank,
            (only_steps IS NULL OR coalesce(list_contains(only_steps, o.step), false))
            AND (name_contains IS NULL OR coalesce(contains(o.name, name_contains), false))
                AS is_measured,
            o.name,
            CASE WHEN by_shape OR by_strides THEN o.input_dims END AS input_dims,
            CASE WHEN by_shape OR by_strides THEN o.input_types END AS input_types,
            s.input_strides,
            count(*) AS call_count,
            sum(o.dur_ns) AS host_total_ns,
            coalesce(min(o.event_id) FILTER (o.event_id >= 0), min(o.event_id))
                AS example_event_id,
            list({
                'event_id': o.event_id,
                'op_id': o.op_id,
                'is_rerun': coalesce(
                    o.is_backward AND o.sequence_number >= 0 AND coalesce(o.fwd_thread_id, 0) = 0,
                    false
                )
            }) AS calls
        FROM host_calls AS o
        LEFT JOIN input_strides_of(by_strides, only_jobs, only_ranks) AS s
            ON s.job = o.job AND s.rank = o.rank AND s.event_id = o.event_id
        WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
          AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
          AND is_operator(o.cat)
        GROUP BY ALL
    )
),
ops AS MATERIALIZED (
    SELECT job, rank, group_number, call.event_id, call.op_id, call.is_rerun
    FROM (
        SELECT
            job,
            rank,
            CASE WHEN is_measured THEN group_number END AS group_number,
            unnest(calls) AS call
        FROM groups
    )
),
-- If another call crosses a callee, the callee counts until that call begins. From then on, that
-- call is on the stack.
called AS (
    SELECT ops.group_number, sum(coalesce(c.cut_ns, c.end_ns) - c.start_ns) AS called_ns
    FROM host_ops AS c
    JOIN ops ON ops.job = c.job AND ops.rank = c.rank AND ops.event_id = c.parent_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, c.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, c.rank))
      AND ops.group_number IS NOT NULL
    GROUP BY ops.group_number
),
activities AS MATERIALIZED (
    SELECT a.job, a.rank, a.op_id, a.start_ns, a.dur_ns, a.end_ns, a.kind, a.name
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND a.op_id IS NOT NULL
),
deep AS MATERIALIZED (
    FROM deep_operators(only_jobs, only_ranks)
),
deep_launched AS MATERIALIZED (
    FROM deep_launches(activities, deep)
),
other_ops AS MATERIALIZED (
    SELECT ops.*
    FROM ops
    LEFT JOIN deep_ranks(only_jobs, only_ranks) AS d ON d.job = ops.job AND d.rank = ops.rank
    WHERE d.job IS NULL OR ops.event_id < 0
),
-- Each operator that launches activities, with itself and all operators around it.
around AS MATERIALIZED (
    FROM launched_in_ops(activities, other_ops)
),
-- The operators that launch activities again in a backward pass: they, or operators around them,
-- repeat a part of the forward pass.
reruns AS MATERIALIZED (
    SELECT job, rank, event_id, dense_rank() OVER (ORDER BY job, rank) AS group_number
    FROM ops
    WHERE is_rerun
),
recomputing AS MATERIALIZED (
    SELECT around.job, around.rank, around.launching_id
    FROM around
    SEMI JOIN reruns AS r
        ON r.job = around.job AND r.rank = around.rank AND r.event_id = around.event_id
    UNION
    SELECT job, rank, launching_id
    FROM launched_in_deep_groups(deep_launched, deep, reruns)
),
-- A launch counts once per group, for the group's outermost call around it.
launched AS MATERIALIZED (
    SELECT
        group_number,
        job,
        rank,
        launching_id,
        arg_max(event_id, distance) AS outermost_id,
        any_value(activity_count) AS activity_count,
        any_value(activity_ns) AS activity_ns,
        any_value(first_start_ns) AS first_start_ns,
        any_value(last_end_ns) AS last_end_ns,
        sum(activity_ns) FILTER (distance = 0) AS self_ns
    FROM around
    WHERE group_number IS NOT NULL
    GROUP BY group_number, job, rank, launching_id
    UNION ALL BY NAME
    FROM launched_in_deep_groups(deep_launched, deep, ops)
),
outermost_calls AS (
    SELECT
        l.group_number,
        l.outermost_id,
        sum(l.activity_count) AS activity_count,
        sum(l.activity_ns) AS activity_ns,
        max(l.last_end_ns) - min(l.first_start_ns) AS span_ns,
        sum(l.self_ns) AS self_ns,
        sum(l.activity_ns) FILTER (r.launching_id IS NOT NULL) AS recomputed_ns
    FROM launched AS l
    LEFT JOIN recomputing AS r
        ON r.job = l.job AND r.rank = l.rank AND r.launching_id = l.launching_id
    GROUP BY l.group_number, l.outermost_id
),
kernels AS (
    SELECT
        group_number,
        sum(activity_count)::BIGINT AS kernel_count,
        sum(activity_ns)::BIGINT AS kernel_ns,
        sum(span_ns)::BIGINT AS kernel_span_ns,
        sum(self_ns)::BIGINT AS self_kernel_ns,
        count(*) AS launching_call_count,
        min(activity_ns)::BIGINT AS kernel_min_ns,
        round(quantile_cont(activity_ns::BIGINT, 0.5))::BIGINT AS kernel_p50_ns,
        round(quantile_cont(activity_ns::BIGINT, 0.95))::BIGINT AS kernel_p95_ns,
        max(activity_ns)::BIGINT AS kernel_max_ns,
        round(sample_stddev(
            count(*), sum(activity_ns), sum(activity_ns::HUGEINT * activity_ns)
        ))::BIGINT AS kernel_stddev_ns,
        sum(recomputed_ns)::BIGINT AS recomputed_ns
    FROM outermost_calls
    GROUP BY group_number
),
intervals AS (
    SELECT launched.group_number AS group_id, a.start_ns, a.end_ns
    FROM activities AS a
    JOIN launched
        ON launched.job = a.job AND launched.rank = a.rank AND launched.launching_id = a.op_id
),
self_times AS (
    SELECT
        l.group_number AS owner,
        a.kind,
        a.name AS kernel_name,
        groups.name AS operator_name,
        sum(a.dur_ns) AS time_ns
    FROM activities AS a
    JOIN launched AS l
        ON l.job = a.job AND l.rank = a.rank AND l.launching_id = a.op_id
    JOIN groups ON groups.group_number = l.group_number
    WHERE l.self_ns IS NOT NULL
    GROUP BY ALL
)
SELECT
    groups.job,
    groups.rank,
    groups.name,
    groups.input_dims,
    groups.input_types,
    groups.input_strides,
    groups.call_count AS count,
    groups.host_total_ns::BIGINT AS host_total_ns,
    (groups.host_total_ns - coalesce(called.called_ns, 0))::BIGINT AS host_self_ns,
    coalesce(kernels.kernel_count, 0) AS kernel_count,
    coalesce(kernels.kernel_ns, 0) AS kernel_ns,
    coalesce(busy.covered_ns, 0) AS kernel_busy_ns,
    coalesce(kernels.kernel_span_ns, 0) AS kernel_span_ns,
    coalesce(kernels.self_kernel_ns, 0) AS self_kernel_ns,
    kernels.kernel_ns / nullif(kernels.kernel_span_ns, 0) AS gpu_utilization_frac,
    groups.example_event_id,
    coalesce(kernels.launching_call_count, 0) AS launching_call_count,
    kernels.kernel_min_ns,
    kernels.kernel_p50_ns,
    kernels.kernel_p95_ns,
    kernels.kernel_max_ns,
    kernels.kernel_stddev_ns,
    coalesce(kernels.recomputed_ns, 0) AS recomputed_ns,
    c.category
FROM groups
LEFT JOIN called ON called.group_number = groups.group_number
LEFT JOIN kernels ON kernels.group_number = groups.group_number
LEFT JOIN covered_times(intervals) AS busy ON busy.group_id = groups.group_number
LEFT JOIN main_categories(self_times) AS c ON c.owner = groups.group_number
WHERE groups.is_measured
ORDER BY
    groups.job,
    groups.rank,
    kernel_ns DESC,
    groups.host_total_ns DESC,
    groups.name,
    groups.input_dims,
    groups.input_types,
    groups.input_strides;
