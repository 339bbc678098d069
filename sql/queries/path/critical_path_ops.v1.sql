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
-- reads: path_owners
CREATE OR REPLACE MACRO critical_path_ops_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as in path_window [default: all]
) AS TABLE
WITH
by_operator AS (
    SELECT
        o.job,
        o.rank,
        o.path_window,
        o.operator,
        sum(o.host_ns)::BIGINT AS host_ns,
        sum(o.gpu_ns)::BIGINT AS gpu_ns,
        sum(o.delay_ns)::BIGINT AS delay_ns,
        sum(o.time_ns)::BIGINT AS time_ns,
        count(*) AS edge_count
    FROM path_owners(only_jobs, only_ranks, only_windows) AS o
    GROUP BY o.job, o.rank, o.path_window, o.operator
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
