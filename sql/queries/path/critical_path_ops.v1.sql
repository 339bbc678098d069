-- Time on each rank's critical path, by operator: what to make faster first.
--
-- `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the paths and
-- stores them (see critical_path). An edge of a path belongs to the operator of its event:
--
--   * of an operator: the operator itself, without the operators inside it
--   * of a call, such as a launch: the innermost operator around it
--   * of a GPU activity: the innermost operator around its launch. In a graph replay, this is the
--     operator that recorded the activity, if it is known
--
-- The delay before an activity's start, after its launch, belongs to the activity. The delay
-- between two activities of a stream belongs to the first of them.
--
--     host    [aten::linear [aten::addmm [launch) )   )  [aten::relu [launch)      )
--     stream                              [==== gemm ====)  [== relu ==)
--     path    lllllllllllllllaaaaaaaaaaaaadggggggggggggggg d rrrrrrrrrrrr
--
--     operator      host_ns  gpu_ns  delay_ns
--     aten::linear  l
--     aten::addmm   a        g       d
--     aten::relu             r
--
-- The values of time_frac of a path add up to 1. A faster operator can make another path the
-- longest: what_if computes the time that is saved.
--
-- since: 0.1
-- grain: job, rank, path_window, operator
-- needs: critical_paths
-- returns:
--   job          VARCHAR  -      run of a program
--   rank         INTEGER  -      rank of the process
--   path_window  VARCHAR  -      window of the path: `step N`, `NAME #INSTANCE` or `trace`
--   operator     VARCHAR  -      name of the operator; NULL: outside operators
--   host_ns      BIGINT   ns     time of operators and calls on the path
--   gpu_ns       BIGINT   ns     time of GPU activities on the path
--   delay_ns     BIGINT   ns     delays from launches to activities, and between activities
--   time_ns      BIGINT   ns     host_ns + gpu_ns + delay_ns
--   time_frac    DOUBLE   0-1    share of the path's time
--   edge_count   BIGINT   count  edges of the path
-- check: time_ns = host_ns + gpu_ns + delay_ns
-- check: host_ns >= 0 AND gpu_ns >= 0 AND delay_ns >= 0 AND edge_count > 0
-- check: time_frac BETWEEN 0 AND 1
-- reads: gpu_activities, host_calls, host_ops, is_operator, path_edges
CREATE OR REPLACE MACRO critical_path_ops_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as in path_window [default: all]
) AS TABLE
WITH
edges AS MATERIALIZED (
    SELECT p.job, p.rank, p.path_window, p.event_id, p.bound_by, p.time_ns
    FROM path_edges AS p
    WHERE p.position IS NOT NULL
      AND p.bound_by IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, p.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, p.rank))
      AND (only_windows IS NULL OR list_contains(only_windows, p.path_window))
),
on_path AS (
    SELECT DISTINCT job, rank, event_id
    FROM edges
),
-- op_id is the operator to which the time of the event belongs.
op_ids AS (
    SELECT a.job, a.rank, a.event_id, a.op_id
    FROM gpu_activities AS a
    SEMI JOIN on_path AS p ON p.job = a.job AND p.rank = a.rank AND p.event_id = a.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
    UNION ALL
    SELECT
        h.job,
        h.rank,
        h.event_id,
        CASE WHEN is_operator(h.cat) THEN h.event_id ELSE h.op_id END AS op_id
    FROM host_ops AS h
    SEMI JOIN on_path AS p ON p.job = h.job AND p.rank = h.rank AND p.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
),
operators AS (
    SELECT i.job, i.rank, i.event_id, h.name AS operator
    FROM op_ids AS i
    JOIN host_calls AS h ON h.job = i.job AND h.rank = i.rank AND h.event_id = i.op_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
),
by_operator AS (
    SELECT
        e.job,
        e.rank,
        e.path_window,
        o.operator,
        coalesce(
            sum(e.time_ns) FILTER (e.bound_by IN ('cpu_bound', 'data_loading')), 0
        )::BIGINT AS host_ns,
        coalesce(
            sum(e.time_ns) FILTER (
                e.bound_by IN ('gpu_compute_bound', 'gpu_communication_bound')
            ), 0
        )::BIGINT AS gpu_ns,
        coalesce(
            sum(e.time_ns) FILTER (
                e.bound_by IN ('gpu_kernel_launch_overhead', 'gpu_kernel_kernel_overhead')
            ), 0
        )::BIGINT AS delay_ns,
        sum(e.time_ns)::BIGINT AS time_ns,
        count(*) AS edge_count
    FROM edges AS e
    LEFT JOIN operators AS o ON o.job = e.job AND o.rank = e.rank AND o.event_id = e.event_id
    GROUP BY e.job, e.rank, e.path_window, o.operator
)
SELECT
    job,
    rank,
    path_window,
    operator,
    host_ns,
    gpu_ns,
    delay_ns,
    time_ns,
    time_ns / nullif(sum(time_ns) OVER (PARTITION BY job, rank, path_window), 0) AS time_frac,
    edge_count
FROM by_operator
ORDER BY job, rank, path_window, time_ns DESC, operator;
