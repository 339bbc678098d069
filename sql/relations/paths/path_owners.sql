-- One row per edge of a rank's critical path that takes time: the operator or call to which its
-- time belongs, and what kind of time it is.
--
-- `only_jobs`, `only_ranks`, `only_windows`: as in critical_path_ops (NULL: all)
--
-- Returns job, rank, path_window, event_id and
--
--     operator  the operator of the edge's event, as in critical_path_ops; NULL: outside operators
--     call      outside operators, the call or annotation that takes the time or launched the
--               activity; NULL: the launch is not in the trace
--     time_ns   time of the edge; it is in one of the next columns, and the other two are 0
--     host_ns   time of an operator or call
--     gpu_ns    time of a GPU activity
--     delay_ns  delay from a launch to an activity, or between two activities
--
-- reads: gpu_activities, host_calls, host_ops, is_operator, path_edges
CREATE OR REPLACE MACRO path_owners(only_jobs, only_ranks, only_windows) AS TABLE
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
-- op_id is the operator to which the time of the event belongs, and call_id the call.
owners AS (
    SELECT a.job, a.rank, a.event_id, a.op_id, a.launch_id AS call_id
    FROM gpu_activities AS a
    SEMI JOIN on_path AS p ON p.job = a.job AND p.rank = a.rank AND p.event_id = a.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
    UNION ALL
    SELECT
        h.job,
        h.rank,
        h.event_id,
        CASE WHEN is_operator(h.cat) THEN h.event_id ELSE h.op_id END AS op_id,
        h.event_id AS call_id
    FROM host_ops AS h
    SEMI JOIN on_path AS p ON p.job = h.job AND p.rank = h.rank AND p.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
),
named AS (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        CASE WHEN o.op_id IS NOT NULL THEN h.name END AS operator,
        CASE WHEN o.op_id IS NULL THEN h.name END AS call
    FROM owners AS o
    JOIN host_calls AS h
        ON h.job = o.job AND h.rank = o.rank AND h.event_id = coalesce(o.op_id, o.call_id)
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
)
SELECT
    e.job,
    e.rank,
    e.path_window,
    e.event_id,
    n.operator,
    n.call,
    e.time_ns,
    CASE WHEN e.bound_by IN ('cpu_bound', 'data_loading') THEN e.time_ns ELSE 0 END AS host_ns,
    CASE
        WHEN e.bound_by IN ('gpu_compute_bound', 'gpu_communication_bound') THEN e.time_ns
        ELSE 0
    END AS gpu_ns,
    CASE
        WHEN e.bound_by IN ('gpu_kernel_launch_overhead', 'gpu_kernel_kernel_overhead')
        THEN e.time_ns
        ELSE 0
    END AS delay_ns
FROM edges AS e
LEFT JOIN named AS n ON n.job = e.job AND n.rank = e.rank AND n.event_id = e.event_id;
