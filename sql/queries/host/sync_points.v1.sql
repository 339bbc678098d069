-- Where the host waits for a device: synchronisations, blocking copies, and their operators.
--
-- A sync point is a call or operator that makes the host wait. A row has all sync points of a rank
-- with the same name. There are three kinds: `wait`, `copy` and `operator`.
--
-- `wait` is a runtime or driver call whose name says that it waits for a device, stream or event:
-- cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize, cuCtxSynchronize, and similar
-- calls of HIP, SYCL, Level Zero, MTIA, ... (blocking_calls.sql has the rules). These calls are not
-- listed:
--
--   * cudaStreamWaitEvent and similar calls: a stream waits, not the host.
--   * cudaEventQuery and similar calls: they ask whether work is done, and do not wait for it.
--   * cudaMalloc, cudaFree and others: they do other work, and may block the host in addition.
--
-- `copy` is a call that copies and blocks the host. The launch of a graph is not a copy. There are
-- three cases:
--
--   * The copy is synchronous by its name (cudaMemcpy, hipMemcpyWithStream). For a copy between
--     devices, the name guarantees nothing. Such a copy counts if the call returned only after the
--     copy's end.
--   * The copy is from a device into pageable memory. If the trace calls the memory neither
--     pageable nor pinned, the copy counts if the call returned only after the copy's end.
--   * The copy is from a device to the host, and the next runtime or driver call that the same
--     operator makes, on the same thread, is a `wait`.
--
-- `operator` is an ATen operator around such calls, directly or with other operations in between:
-- aten::item, aten::_local_scalar_dense, aten::nonzero, aten::is_nonzero, aten::to, ... An
-- operator counts only if it waits. For example, aten::item of a tensor on the CPU does not count.
--
--     1     [=================================)
--     2       [==============================)
--     3         [=====)
--     4                  [===================)
--     GPU  [==================)        [====)
--
--                                   host_ns  self_ns  wait_ns  gpu_busy_ns
--     1  aten::item                 34       3        26       12
--     2  aten::_local_scalar_dense  31       5        26       12
--     3  cudaMemcpyAsync            6        6        6        6
--     4  cudaStreamSynchronize      20       20       20       6
--
-- So one wait counts in several rows: in the row of the call and in the rows of the operators
-- around the call.
--
--   * `host_ns` is the sum of the durations of all calls of the name.
--   * `self_ns` is host_ns without the sync points inside. The self_ns of all rows add up to the
--     time in which threads had a sync point on their stack. The self_ns of waits and copies add up
--     to the time that these calls waited. If another span begins during a call and ends after the
--     call, self_ns counts the call only until this span begins.
--   * `wait_ns` is the part of host_ns in waits and blocking copies.
--   * `gpu_busy_ns` is the part of wait_ns in which any of the rank's devices ran something. The
--     rest of wait_ns is waiting while the devices were idle.
--
-- If calls of one name are nested, self_ns counts their time once. All other times count it several
-- times.
--
-- With `only_steps`, a call counts if it began in a selected step. An operator counts if both its
-- own step and the step of its wait are selected. GPU activities and callers of all steps count.
--
-- PyTorch's profiler synchronises the device when it stops. This wait is also listed. It is mostly
-- outside all steps.
--
-- HTA counts the profiler's cuda_sync events as GPU activities.
--
-- since: 0.1
-- grain: job, rank, name
-- needs: host_ops
-- returns:
--   job               VARCHAR  -      run of a program
--   rank              INTEGER  -      rank of the process
--   name              VARCHAR  -      name of the call or operator
--   kind              VARCHAR  -      wait, copy or operator
--   count             BIGINT   count  calls that waited
--   host_ns           BIGINT   ns     sum of these calls' durations
--   self_ns           BIGINT   ns     host_ns without the sync points inside
--   wait_ns           BIGINT   ns     part of host_ns in waits and blocking copies
--   gpu_busy_ns       BIGINT   ns     part of wait_ns with at least one GPU activity
--   max_ns            BIGINT   ns     longest call
--   caller            VARCHAR  -      operator directly around the calls; if there are several, the
--                                     one with the largest caller_ns
--   caller_ns         BIGINT   ns     sum of the durations of the calls directly in `caller`
--   caller_count      BIGINT   count  different operators directly around the calls
--   example_event_id  BIGINT   -      the longest call; if several are equally long, the first of
--                                     them
-- check: kind IN ('wait', 'copy', 'operator')
-- check: count > 0 AND max_ns BETWEEN 0 AND host_ns
-- check: self_ns BETWEEN 0 AND host_ns
-- check: wait_ns BETWEEN 0 AND host_ns AND gpu_busy_ns BETWEEN 0 AND wait_ns
-- check: kind = 'operator' OR wait_ns = host_ns
-- check: (caller IS NULL) = (caller_count = 0) AND (caller IS NULL) = (caller_ns IS NULL)
-- check: caller IS NULL OR caller_ns BETWEEN 0 AND host_ns
-- reads: host_ops, is_operator, times_inside, waited_times, waiting_calls
CREATE OR REPLACE MACRO sync_points_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH RECURSIVE
calls AS MATERIALIZED (
    FROM waiting_calls(only_jobs, only_ranks, only_steps)
),
ops AS MATERIALIZED (
    SELECT o.job, o.rank, o.event_id, o.op_id
    FROM host_ops AS o
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND is_operator(o.cat)
),
-- All operators around these calls, from the innermost out.
around AS (
    SELECT DISTINCT job, rank, op_id AS event_id
    FROM calls
    WHERE op_id IS NOT NULL
    UNION
    SELECT ops.job, ops.rank, ops.op_id AS event_id
    FROM around
    JOIN ops
        ON ops.job = around.job AND ops.rank = around.rank AND ops.event_id = around.event_id
    WHERE ops.op_id IS NOT NULL
),
needed AS (
    SELECT job, rank, event_id, kind FROM calls
    UNION ALL
    SELECT job, rank, event_id, 'operator' AS kind FROM around
),
spans AS MATERIALIZED (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        needed.kind,
        h.name,
        h.pid,
        h.tid,
        h.op_id,
        h.step,
        h.start_ns,
        h.end_ns,
        h.dur_ns,
        coalesce(h.cut_ns, h.end_ns) AS stack_end_ns
    FROM host_ops AS h
    JOIN needed
        ON needed.job = h.job AND needed.rank = h.rank AND needed.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
),
points AS MATERIALIZED (
    SELECT
        *,
        row_number() OVER () AS point,
        dense_rank() OVER (ORDER BY job, rank) AS process,
        dense_rank() OVER (ORDER BY job, rank, pid, tid) AS thread
    FROM spans
    WHERE kind <> 'operator'
       OR (prefix(name, 'aten::') AND (only_steps IS NULL OR list_contains(only_steps, step)))
),
inside AS (
    FROM times_inside(points)
),
times AS (
    FROM waited_times(points, only_jobs, only_ranks)
),
by_caller AS (
    SELECT
        p.job,
        p.rank,
        p.name,
        caller.name AS caller,
        -- If an operator and a call have the same name, which is unlikely, the kind is operator.
        coalesce(min(p.kind) FILTER (p.kind = 'operator'), min(p.kind)) AS kind,
        count(*) AS count,
        sum(p.dur_ns) AS host_ns,
        sum(p.stack_end_ns - p.start_ns - coalesce(inside.stack_ns, 0)) AS self_ns,
        sum(times.wait_ns) AS wait_ns,
        sum(times.gpu_busy_ns) AS gpu_busy_ns,
        max({'dur_ns': p.dur_ns, 'first': -p.event_id}) AS longest
    FROM points AS p
    JOIN times ON times.point = p.point
    LEFT JOIN inside ON inside.point = p.point
    LEFT JOIN spans AS caller
        ON caller.job = p.job AND caller.rank = p.rank AND caller.event_id = p.op_id
    GROUP BY p.job, p.rank, p.name, caller.name
),
by_position AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY job, rank, name
            ORDER BY caller IS NULL, host_ns DESC, count DESC, caller
        ) AS position
    FROM by_caller
)
SELECT
    job,
    rank,
    name,
    coalesce(min(kind) FILTER (kind = 'operator'), min(kind)) AS kind,
    sum(count)::BIGINT AS count,
    sum(host_ns)::BIGINT AS host_ns,
    sum(self_ns)::BIGINT AS self_ns,
    sum(wait_ns)::BIGINT AS wait_ns,
    sum(gpu_busy_ns)::BIGINT AS gpu_busy_ns,
    max(longest.dur_ns) AS max_ns,
    max(caller) FILTER (position = 1) AS caller,
    (max(host_ns) FILTER (position = 1 AND caller IS NOT NULL))::BIGINT AS caller_ns,
    count(caller) AS caller_count,
    -max(longest).first AS example_event_id
FROM by_position
GROUP BY job, rank, name
ORDER BY job, rank, wait_ns DESC, host_ns DESC, name;
