-- Time on each rank's critical path, by category: host, GPU, communication or delay.
--
-- `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the paths and
-- stores them (see critical_path). The values of time_frac of a path add up to 1. bound_by is one
-- of these categories:
--
--     cpu_bound                   operators and calls on the host
--     data_loading                PyTorch's DataLoader on the host, and
--                                 annotations that `--data-loading` names
--     gpu_compute_bound           computation kernels, copies and memsets
--     gpu_communication_bound     collectives and messages, with their waits
--                                 for other ranks
--     gpu_kernel_launch_overhead  delay from the start of a launch to the
--                                 start of its activity
--     gpu_kernel_kernel_overhead  delay from the end of an activity to the
--                                 start of the next activity on its stream
--
-- HTA's summary() of a critical path reports percentages of the path's time.
--
-- since: 0.1
-- grain: job, rank, path_window, bound_by
-- needs: critical_paths
-- returns:
--   job          VARCHAR  -      run of a program
--   rank         INTEGER  -      rank of the process
--   path_window  VARCHAR  -      window of the path: `step N`, `NAME #INSTANCE` or `trace`
--   bound_by     VARCHAR  -      category of the time, as above
--   time_ns      BIGINT   ns     time of the category on the path
--   time_frac    DOUBLE   0-1    share of the path's time
--   edge_count   BIGINT   count  edges of the path
-- check: time_ns >= 0 AND edge_count > 0
-- check: time_frac BETWEEN 0 AND 1
-- reads: path_edges
CREATE OR REPLACE MACRO critical_path_summary_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as in path_window [default: all]
) AS TABLE
WITH
by_bound AS (
    SELECT
        p.job,
        p.rank,
        p.path_window,
        p.bound_by,
        sum(p.time_ns)::BIGINT AS time_ns,
        count(*) AS edge_count
    FROM path_edges AS p
    WHERE p.position IS NOT NULL
      AND p.bound_by IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, p.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, p.rank))
      AND (only_windows IS NULL OR list_contains(only_windows, p.path_window))
    GROUP BY p.job, p.rank, p.path_window, p.bound_by
)
SELECT
    job,
    rank,
    path_window,
    bound_by,
    time_ns,
    time_ns / nullif(sum(time_ns) OVER (PARTITION BY job, rank, path_window), 0) AS time_frac,
    edge_count
FROM by_bound
ORDER BY job, rank, path_window, time_ns DESC, bound_by;
