-- The critical path of a step on a rank: the longest chain of dependent work.
--
-- `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the path of a
-- step, an annotation or a whole trace, and stores it. This query reads the stored path. As long as
-- no path is stored, the query has no rows.
--
-- The path comes from a graph. Each operator, runtime call (such as cudaLaunchKernel) and GPU
-- activity has two nodes: its start and its end. If node B had to wait for node A, an edge goes
-- from A to B. The path is the chain of edges with the largest sum of time_ns:
--
--     host    [aten::mm [launch] )[aten::item [cudaStreamSynchronize    ] )
--     stream                  [===== gemm =====)   [=== copy ===)
--     path    aaaaaaaaaabbbbbbccccccccccccccccccdddeeeeeeeeeeeeeessssssssff
--
--     a, c, e, f  operator (a aten::mm, c gemm, e copy, f aten::item)
--     b           kernel_launch_delay
--     d           kernel_kernel_delay
--     s           sync_dependency
--
-- time_ns of an edge depends on the kind of edge:
--
--     operator             self time of an operator or call, or duration of a
--                          GPU activity
--     kernel_launch_delay  time from the start of a launch to the start of its
--                          activity
--     kernel_kernel_delay  time from the end of an activity to the start of
--                          the next activity on its stream
--     sync_dependency      always 0; the edge leads from the end of an
--                          activity to what waited for this end: to the end
--                          of a call, or to the start of another activity
--     dependency           always 0; the edge leads from one thread's work to
--                          another thread's work, or across a pause
--
-- start_ns and end_ns of an edge may differ even if its time_ns is 0: edge s in the drawing is 8
-- columns long, but its time_ns is 0. Three kinds of time therefore do not count in the path's
-- time:
--   * The wait of a call for the device. Instead of the call, the path has the activity that the
--     call waits for, and then a sync_dependency from the activity to the end of the call.
--   * A pause between two outermost operators of a thread. It is a dependency, since the trace
--     records no work there. critical_path_ranks counts it as host time.
--   * A launch delay or kernel-kernel delay of 1.5 ms or more. It is a dependency, too.
--
-- The profiler's cuda_sync rows (enable_cuda_sync_events) record which stream waits for which
-- stream, and what a call waits for. Most traces have no such rows. For waits without such a row,
-- the graph assumes:
--   * A call that waits for the device waits for the activity that ended last during the call.
--   * An activity could begin when all of these have ended: its launch, the activity before it on
--     its stream, and its recorded waits. If it begins 100 us later or more, it waits for the
--     activity that ended last on the device during this delay.
--   * In a CUDA graph launch, an activity waits for one activity of the same launch: the one that
--     ended last during this delay. Here, the delay can be shorter than 100 us.
--
-- HTA's critical_path_analysis gives edges the same times, but HTA's graph has only one activity
-- per CUDA graph launch. HTA connects the autograd thread and the training thread only if one
-- thread has names with "autograd" and the other thread has names with "forward".
-- docs/differences-from-hta.md lists the other differences.
--
-- since: 0.1
-- grain: job, rank, path_window, position
-- needs: critical_paths
-- returns:
--   job              VARCHAR  -   run of a program
--   rank             INTEGER  -   rank of the process
--   path_window      VARCHAR  -   window of the path: `step N`, `NAME #INSTANCE` or `trace`
--   position         BIGINT   -   place on the path, from 1
--   event_id         BIGINT   -   event that takes the edge's time; NULL if edge is dependency or
--                                 sync_dependency
--   name             VARCHAR  -   name of the event in event_id
--   edge             VARCHAR  -   kind of edge, as above: operator, dependency,
--                                 kernel_launch_delay, kernel_kernel_delay or sync_dependency
--   bound_by         VARCHAR  -   category of the edge, as in critical_path_summary: cpu_bound,
--                                 gpu_compute_bound, gpu_communication_bound,
--                                 gpu_kernel_kernel_overhead, gpu_kernel_launch_overhead or
--                                 data_loading; NULL if edge is dependency or sync_dependency
--   start_ns         BIGINT   ns  start of the edge
--   end_ns           BIGINT   ns  end of the edge
--   time_ns          BIGINT   ns  time of the edge that counts in the path's time, as above
--   source_event_id  BIGINT   -   event at whose start or end the edge begins
--   target_event_id  BIGINT   -   event at whose start or end the edge ends
-- check: position > 0 AND time_ns >= 0
-- check: time_ns IN (0, greatest(0, end_ns - start_ns))
-- check: edge IN ('operator', 'dependency', 'kernel_launch_delay', 'kernel_kernel_delay',
--   'sync_dependency')
-- check: (bound_by IS NULL) = (edge IN ('dependency', 'sync_dependency'))
-- check: (event_id IS NULL) = (bound_by IS NULL)
-- check: bound_by IS NOT NULL OR time_ns = 0
-- reads: path_edges
CREATE OR REPLACE MACRO critical_path_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as in path_window [default: all]
) AS TABLE
SELECT
    p.job,
    p.rank,
    p.path_window,
    p.position,
    p.event_id,
    p.name,
    p.edge,
    p.bound_by,
    p.start_ns,
    p.end_ns,
    p.time_ns,
    p.source_event_id,
    p.target_event_id
FROM path_edges AS p
WHERE p.position IS NOT NULL
  AND (only_jobs IS NULL OR list_contains(only_jobs, p.job))
  AND (only_ranks IS NULL OR list_contains(only_ranks, p.rank))
  AND (only_windows IS NULL OR list_contains(only_windows, p.path_window))
ORDER BY p.job, p.rank, p.path_window, p.position;
