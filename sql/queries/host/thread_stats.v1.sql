-- What each host thread did, for how long, and what it launched.
--
-- Every instant of a thread counts for the innermost span that is open at this instant. The span
-- has one of these kinds:
--
--     operator      operators
--     annotation    annotations, for code in them that has no span of its own
--     python        Python functions: only traces with stacks have them
--     runtime       runtime and driver calls that do not wait: launches, ...
--     sync          runtime and driver calls that wait for the device: names with `synchronize`
--     data_loading  annotations and operators `enumerate(DataLoader)#...`, and everything inside
--                   them, of any kind
--
-- So the times of the kinds add up to busy_ns. The rest of span_ns is idle, or is code that the
-- trace does not record.
--
-- In this drawing, the second runtime call begins inside the operator and ends after it. From its
-- beginning on, all instants count for the runtime call:
--
--     annotation    [= step ==============)          [=====)
--     operator          [========)
--     runtime             [==)  [=====)
--     counts for    aaaaoorrrooorrrrrraaaa           aaaaaa
--
-- An instant belongs to the step in which its innermost span began. With `only_steps`, only
-- instants of the selected steps count as busy. A thread has no row if none of its spans began in a
-- selected step.
--
-- `role` is one of:
--
--   * main: a thread with marks of steps. If no thread of the rank has marks of steps,
--     main is the thread with the same id as its process.
--   * autograd: any other thread that runs operators of PyTorch's autograd. These operators have
--     `autograd::` in their names.
--   * NULL: all other threads.
--
-- The GPU activities of a thread are the activities of the selected steps whose launch is on this
-- thread.
--
-- since: 0.1
-- grain: job, rank, pid, tid
-- needs: host_ops
-- returns:
--   job               VARCHAR  -      run of a program
--   rank              INTEGER  -      rank of the process
--   pid               VARCHAR  -      id of the process
--   tid               VARCHAR  -      id of the thread
--   thread_name       VARCHAR  -      name of the thread; if the trace has several names for it,
--                                     the last of these; NULL if the trace has none
--   role              VARCHAR  -      main, autograd or NULL
--   start_ns          BIGINT   ns     start of the first span
--   span_ns           BIGINT   ns     start of the first span to end of the last
--   busy_ns           BIGINT   ns     time with at least one span open
--   operator_ns       BIGINT   ns     part of busy_ns in operators
--   annotation_ns     BIGINT   ns     part of busy_ns in annotations
--   python_ns         BIGINT   ns     part of busy_ns in Python functions
--   runtime_ns        BIGINT   ns     part of busy_ns in runtime and driver calls that do not wait
--   sync_ns           BIGINT   ns     part of busy_ns in runtime and driver calls that wait for the
--                                     device
--   data_loading_ns   BIGINT   ns     part of busy_ns in data loaders
--   op_count          BIGINT   count  operators
--   annotation_count  BIGINT   count  annotations
--   python_count      BIGINT   count  calls of Python functions
--   runtime_count     BIGINT   count  runtime and driver calls, including those that wait
--   launch_count      BIGINT   count  runtime and driver calls that launched GPU activities
--   kernel_count      BIGINT   count  GPU activities launched on the thread: kernels, copies and
--                                     memsets
--   kernel_ns         BIGINT   ns     sum of these activities' durations
--   kernel_busy_ns    BIGINT   ns     time with at least one of these activities, on any device
-- check: operator_ns + annotation_ns + python_ns + runtime_ns + sync_ns + data_loading_ns = busy_ns
-- check: least(operator_ns, annotation_ns, python_ns, runtime_ns, sync_ns, data_loading_ns) >= 0
-- check: busy_ns <= span_ns
-- check: role IN ('main', 'autograd')
-- check: op_count + annotation_count + python_count + runtime_count > 0
-- check: launch_count BETWEEN 0 AND kernel_count
-- check: kernel_busy_ns BETWEEN 0 AND kernel_ns
-- reads: covered_times, events, gpu_activities, host_ops, is_operator, step_marks, step_number
CREATE OR REPLACE MACRO thread_stats_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
-- A small number for each thread, so that the rows joined below are narrow.
threads AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY job, rank, pid, tid) AS thread, job, rank, pid, tid
    FROM (
        SELECT DISTINCT o.job, o.rank, o.pid, o.tid
        FROM host_ops AS o
        WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
          AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
    )
),
-- Spans of all steps. The time of a callee does not count for its caller, even if the two began in
-- different steps.
spans AS MATERIALIZED (
    SELECT
        threads.thread,
        o.event_id,
        o.parent_id,
        CASE
            WHEN is_operator(o.cat) THEN 'operator'
            WHEN o.cat = 'user_annotation' THEN 'annotation'
            WHEN o.cat = 'python_function' THEN 'python'
            WHEN contains(lower(o.name), 'synchronize') THEN 'sync'
            ELSE 'runtime'
        END AS kind,
        kind IN ('operator', 'annotation') AND prefix(o.name, 'enumerate(DataLoader)#')
            AS is_loader,
        kind <> 'python' AND step_number(o.name) IS NOT NULL OR m.event_id IS NOT NULL AS is_step,
        kind = 'operator' AND contains(o.name, 'autograd::') AS is_autograd,
        only_steps IS NULL OR list_contains(only_steps, o.step) AS is_picked,
        o.start_ns,
        o.end_ns,
        coalesce(o.cut_ns, o.end_ns) - o.start_ns AS stack_ns
    FROM host_ops AS o
    JOIN threads
        ON threads.job = o.job
        AND threads.rank = o.rank
        AND threads.pid IS NOT DISTINCT FROM o.pid
        AND threads.tid IS NOT DISTINCT FROM o.tid
    LEFT JOIN step_marks AS m
        ON m.job = o.job AND m.rank = o.rank AND m.event_id = o.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
-- The time of each span's callees. Callees never overlap: one leaves the stack before the next is
-- called.
called AS (
    SELECT thread, parent_id AS event_id, sum(stack_ns) AS called_ns
    FROM spans
    WHERE parent_id IS NOT NULL
    GROUP BY thread, parent_id
),
-- The data loaders and the spans inside them. Spans are in order of start. If several start at the
-- same time, the longest comes first. A span is inside a loader if an earlier loader in this order
-- ends at the same time or later.
in_loaders AS (
    SELECT thread, event_id
    FROM spans
    WHERE thread IN (SELECT thread FROM spans WHERE is_loader)
    QUALIFY max(end_ns) FILTER (is_loader) OVER (
        PARTITION BY thread
        ORDER BY start_ns, end_ns DESC, event_id
        ROWS UNBOUNDED PRECEDING
    ) >= end_ns
),
own_times AS (
    SELECT
        spans.*,
        spans.stack_ns - coalesce(called.called_ns, 0) AS own_ns,
        in_loaders.event_id IS NOT NULL AS is_in_loader
    FROM spans
    LEFT JOIN called
        ON called.thread = spans.thread AND called.event_id = spans.event_id
    LEFT JOIN in_loaders
        ON in_loaders.thread = spans.thread AND in_loaders.event_id = spans.event_id
),
host AS (
    SELECT
        thread,
        bool_or(is_step) AS has_steps,
        bool_or(is_autograd) AS has_autograd,
        min(start_ns) FILTER (is_picked) AS start_ns,
        max(end_ns) FILTER (is_picked) AS end_ns,
        count(*) FILTER (is_picked AND kind = 'operator') AS op_count,
        count(*) FILTER (is_picked AND kind = 'annotation') AS annotation_count,
        count(*) FILTER (is_picked AND kind = 'python') AS python_count,
        count(*) FILTER (is_picked AND kind IN ('runtime', 'sync')) AS runtime_count,
        sum(own_ns) FILTER (is_picked) AS busy_ns,
        sum(own_ns) FILTER (is_picked AND is_in_loader) AS data_loading_ns,
        sum(own_ns) FILTER (is_picked AND NOT is_in_loader AND kind = 'operator') AS operator_ns,
        sum(own_ns) FILTER (is_picked AND NOT is_in_loader AND kind = 'annotation')
            AS annotation_ns,
        sum(own_ns) FILTER (is_picked AND NOT is_in_loader AND kind = 'python') AS python_ns,
        sum(own_ns) FILTER (is_picked AND NOT is_in_loader AND kind = 'runtime') AS runtime_ns,
        sum(own_ns) FILTER (is_picked AND NOT is_in_loader AND kind = 'sync') AS sync_ns
    FROM own_times
    GROUP BY thread
),
names AS (
    SELECT
        e.job,
        e.rank,
        e.pid,
        e.tid,
        arg_max(CASE WHEN json_valid(e.args) THEN e.args ->> '$.name' END, e.event_id)
            AS thread_name
    FROM events AS e
    WHERE e.ph = 'M'
      AND e.name = 'thread_name'
      AND (only_jobs IS NULL OR list_contains(only_jobs, e.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, e.rank))
    GROUP BY e.job, e.rank, e.pid, e.tid
),
launched AS (
    SELECT threads.thread AS group_id, a.launch_id, a.start_ns, a.end_ns, a.dur_ns
    FROM gpu_activities AS a
    JOIN threads
        ON threads.job = a.job
        AND threads.rank = a.rank
        AND threads.pid IS NOT DISTINCT FROM a.launch_pid
        AND threads.tid IS NOT DISTINCT FROM a.launch_tid
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
      AND a.launch_id IS NOT NULL
),
kernels AS (
    SELECT
        group_id AS thread,
        count(DISTINCT launch_id) AS launch_count,
        count(*) AS kernel_count,
        sum(dur_ns) AS kernel_ns
    FROM launched
    GROUP BY group_id
)
SELECT
    threads.job,
    threads.rank,
    threads.pid,
    threads.tid,
    names.thread_name,
    CASE
        WHEN host.has_steps THEN 'main'
        WHEN threads.pid = threads.tid
            AND NOT bool_or(host.has_steps) OVER (PARTITION BY threads.job, threads.rank)
        THEN 'main'
        WHEN host.has_autograd THEN 'autograd'
    END AS role,
    host.start_ns,
    host.end_ns - host.start_ns AS span_ns,
    host.busy_ns::BIGINT AS busy_ns,
    coalesce(host.operator_ns, 0)::BIGINT AS operator_ns,
    coalesce(host.annotation_ns, 0)::BIGINT AS annotation_ns,
    coalesce(host.python_ns, 0)::BIGINT AS python_ns,
    coalesce(host.runtime_ns, 0)::BIGINT AS runtime_ns,
    coalesce(host.sync_ns, 0)::BIGINT AS sync_ns,
    coalesce(host.data_loading_ns, 0)::BIGINT AS data_loading_ns,
    host.op_count,
    host.annotation_count,
    host.python_count,
    host.runtime_count,
    coalesce(kernels.launch_count, 0) AS launch_count,
    coalesce(kernels.kernel_count, 0) AS kernel_count,
    coalesce(kernels.kernel_ns, 0)::BIGINT AS kernel_ns,
    coalesce(busy.covered_ns, 0) AS kernel_busy_ns
FROM threads
JOIN host ON host.thread = threads.thread
LEFT JOIN names
    ON names.job = threads.job
    AND names.rank = threads.rank
    AND names.pid IS NOT DISTINCT FROM threads.pid
    AND names.tid IS NOT DISTINCT FROM threads.tid
LEFT JOIN kernels ON kernels.thread = threads.thread
LEFT JOIN covered_times(launched) AS busy ON busy.group_id = threads.thread
-- QUALIFY filters after the window function, which also needs threads without selected spans.
QUALIFY host.start_ns IS NOT NULL
ORDER BY threads.job, threads.rank, host.busy_ns DESC, threads.pid, threads.tid;
