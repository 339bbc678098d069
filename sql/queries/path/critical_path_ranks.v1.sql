-- The critical path through all ranks of a job: its time by rank and category.
--
-- `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes one path over all
-- ranks of a job, and stores it. This query reads the stored path.
--
-- The graph joins the graphs of all ranks (see critical_path), on aligned clocks (see
-- clock_offsets). Two kinds of paired calls (see collectives) connect the ranks: messages, and
-- collectives that all members leave together.
--
-- If only some ranks are computed (only_ranks), the others count as if they began each call no
-- later than the computed ranks did.
--
-- The path is found backwards in time, from the end of the window. If a node waited for several
-- nodes, the path goes back to the node whose time plus the delay after it is largest (see
-- what_if). Where a rank waits for another rank, the path therefore runs on the rank that came
-- last:
--
--     rank 0   [= forward =)[====== all_reduce ======)[= optimizer =)
--     rank 1   [======= forward =======)[ all_reduce )[= optimizer =)
--     path      ----- rank 1 ----------> - transfer ->  - rank 0 or 1 ->
--
-- The path covers the window without a gap, so the values of time_frac of a job's window add up to
-- 1. Time between operators counts as host time here (cpu_bound).
--
-- If rank_frac is much larger for one rank than for the others, this rank delays the other ranks.
--
-- HTA's critical path covers only one rank.
--
-- since: 0.1
-- grain: job, path_window, rank, bound_by
-- needs: critical_paths
-- returns:
--   job          VARCHAR  -      run of a program
--   path_window  VARCHAR  -      window of the path: `step N`, `NAME #INSTANCE` or `trace`
--   rank         INTEGER  -      rank of the process
--   bound_by     VARCHAR  -      category of the time, as in critical_path_summary, or
--                                earlier_window: the device still runs activities of an earlier
--                                window
--   time_ns      BIGINT   ns     time of the rank and category on the job's path
--   time_frac    DOUBLE   0-1    time_ns / time of the path
--   rank_frac    DOUBLE   0-1    share of the path's time on this rank, over all values of bound_by
--   edge_count   BIGINT   count  edges of the path
-- check: edge_count > 0 AND time_ns >= 0
-- check: time_frac BETWEEN 0 AND 1 AND rank_frac BETWEEN 0 AND 1
-- reads: job_path_edges
CREATE OR REPLACE MACRO critical_path_ranks_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as in path_window [default: all]
) AS TABLE
WITH
by_bound AS (
    SELECT
        p.job,
        p.path_window,
        p.rank,
        p.bound_by,
        sum(p.time_ns)::BIGINT AS time_ns,
        count(*) AS edge_count
    FROM job_path_edges AS p
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, p.job))
      AND (only_windows IS NULL OR list_contains(only_windows, p.path_window))
    GROUP BY p.job, p.path_window, p.rank, p.bound_by
),
with_totals AS (
    SELECT
        *,
        sum(time_ns) OVER (PARTITION BY job, path_window) AS path_ns,
        sum(time_ns) OVER (PARTITION BY job, path_window, rank) AS rank_ns
    FROM by_bound
)
SELECT
    job,
    path_window,
    rank,
    bound_by,
    time_ns,
    time_ns / nullif(path_ns, 0) AS time_frac,
    rank_ns / nullif(path_ns, 0) AS rank_frac,
    edge_count
FROM with_totals
ORDER BY job, path_window, rank_frac DESC, rank, time_ns DESC, bound_by;
