-- Which ranks bound a job's step, and by what: the critical path of the job through its ranks.
--
-- Reads what `hta-sql critical-path ARCHIVE` (or run.compute_critical_path) has computed for all of
-- a job's ranks together. The path goes back in time from what ended the window last, always to
-- what, with its delay (see what_if), came last of all that was waited for. A rank that waits in a
-- collective is left for the rank that came last, where the path goes on:
--
--     rank 0   [= forward =)[====== all_reduce ======)[= optimizer =)
--     rank 1   [======= forward =======)[ all_reduce )[= optimizer =)
--     path      ----- rank 1 ----------> ----------->  - rank 0 or 1 ->
--
-- So it belongs to every instant of the window, and the fractions of a job's window add up to 1.
-- Time between operators is the host's here (cpu_bound). Ranks are joined by the collectives and
-- messages that pair (see collectives), on aligned clocks (see clock_offsets).
--
-- A rank with more than its share holds the others up. HTA's path is of one rank alone.
--
-- since: 0.1
-- grain: job, path_window, rank, bound_by
-- returns:
--   job          VARCHAR  -      run of a program
--   path_window  VARCHAR  -      `step N`, `NAME #INSTANCE` or `trace`
--   rank         INTEGER  -      rank of the process
--   bound_by     VARCHAR  -      what bounds it, as in critical_path_summary; or earlier_window:
--                                the device was still at work for one
--   time_ns      BIGINT   ns     time on the job's path
--   time_frac    DOUBLE   0-1    of all the path's time
--   rank_frac    DOUBLE   0-1    the same of all the rank's time on it
--   edge_count   BIGINT   count  edges of the path
-- check: edge_count > 0 AND time_ns >= 0
-- check: time_frac BETWEEN 0 AND 1 AND rank_frac BETWEEN 0 AND 1
-- reads: job_path_edges
CREATE OR REPLACE MACRO critical_path_ranks_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as path_window has them [default: all]
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
