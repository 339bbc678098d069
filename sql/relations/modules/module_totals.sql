-- One row per rank and place in the model: the host and GPU time of the nn.Module.
--
-- `chosen`, `only_jobs` and `only_ranks`: as in module_calls.
--
-- Returns path_number, rank_number and the columns of module_stats except job and rank. The header
-- of module_stats explains these columns. module_stats lists its rows in order of path_number.
--
-- reads: module_activities, module_call_paths, module_calls, module_host_times, module_kernels,
--   numbered_modules
CREATE OR REPLACE MACRO module_totals(chosen, only_jobs, only_ranks) AS TABLE
WITH
calls AS MATERIALIZED (
    FROM module_calls(chosen, only_jobs, only_ranks)
),
call_paths AS MATERIALIZED (
    FROM module_call_paths(calls)
),
paths AS MATERIALIZED (
    FROM numbered_modules(call_paths)
),
numbered_calls AS MATERIALIZED (
    SELECT p.path_number, c.place, c.rank_number, c.event_id
    FROM call_paths AS c
    JOIN paths AS p ON p.rank_number = c.rank_number AND p.path = c.path
),
host AS (
    FROM module_host_times(calls, numbered_calls)
),
activities AS MATERIALIZED (
    FROM module_activities(chosen, paths, numbered_calls, only_jobs, only_ranks)
),
by_pass AS MATERIALIZED (
    FROM module_kernels(paths, activities)
)
SELECT
    paths.path_number,
    paths.rank_number,
    paths.path AS module,
    paths.name,
    paths.depth,
    coalesce(host.call_count, 0) AS count,
    coalesce(host.total_ns, 0)::BIGINT AS host_total_ns,
    coalesce(host.self_ns, 0)::BIGINT AS host_self_ns,
    coalesce(forward.kernel_count, 0)::BIGINT AS forward_kernel_count,
    coalesce(forward.kernel_ns, 0)::BIGINT AS forward_kernel_ns,
    coalesce(forward.busy_ns, 0)::BIGINT AS forward_busy_ns,
    coalesce(forward.self_kernel_count, 0)::BIGINT AS forward_self_kernel_count,
    coalesce(forward.self_kernel_ns, 0)::BIGINT AS forward_self_kernel_ns,
    coalesce(backward.kernel_count, 0)::BIGINT AS backward_kernel_count,
    coalesce(backward.kernel_ns, 0)::BIGINT AS backward_kernel_ns,
    coalesce(backward.busy_ns, 0)::BIGINT AS backward_busy_ns,
    coalesce(backward.self_kernel_count, 0)::BIGINT AS backward_self_kernel_count,
    coalesce(backward.self_kernel_ns, 0)::BIGINT AS backward_self_kernel_ns,
    host.example_event_id
FROM paths
LEFT JOIN host ON host.path_number = paths.path_number
LEFT JOIN by_pass AS forward
    ON forward.path_number = paths.path_number AND NOT forward.is_backward
LEFT JOIN by_pass AS backward
    ON backward.path_number = paths.path_number AND backward.is_backward
WHERE coalesce(host.call_count, forward.kernel_count, backward.kernel_count) IS NOT NULL;
