-- The critical path of a step on a rank: the longest chain of dependent work.
--
-- `hta-sql critical-path ARCHIVE` (or run.compute_critical_path) computes the path of a step, an
-- annotation or a whole trace. This query reads the result, and has no rows until then.
--
-- A rank's graph has a node for each start and end of an operator, call or GPU activity. An edge
-- goes from a node to each node that had to wait for it. The path is the longest way through the
-- graph:
--
--     host     [aten::mm  [launch]    )[aten::item  [cudaStreamSynchronize          ])
--     stream                   [==== gemm ====)[==== copy ====)
--     path     ------------>    -------------> --------------->                    -->
--               operator      | operator       operator         sync_dependency
--                             launch delay    kernel-kernel delay
--
--     operator             self time of an operator or call, or duration of a GPU activity
--     dependency           from one thread's work to another's, or over a pause; takes no time
--     kernel_launch_delay  from the start of a launch to the start of its activity
--     kernel_kernel_delay  from the end of an activity to the start of the next on its stream
--     sync_dependency      end of a wait for a stream, an event or a device; takes no time
--
-- A call that waits for the device takes no time itself, because what it waits for is on the path.
-- The time between outermost operators takes none either, since the trace records no work there;
-- critical_path_ranks counts it as host time. A launch delay or kernel-kernel delay of 1.5 ms or
-- more is a dependency.
--
-- The profiler's cuda_sync rows (enable_cuda_sync_events) record which stream waits for which, and
-- what a call waits for. Most traces have none. Then a call is taken to wait for the activity that
-- ended last during the call. An activity can also begin 100 us or more after all of these have
-- ended: its launch, the activity before it on its stream, and all recorded waits. Then it is taken
-- to wait for the activity that ended last on the device during this delay. In a CUDA graph launch,
-- whose activities are all in the graph, that holds for delays of any length.
--
-- HTA's critical_path_analysis gives edges the same times, but its graph has only one activity of a
-- CUDA graph launch. It joins autograd's thread and the training thread only if names on them
-- contain "autograd" and "forward". docs/differences-from-hta.md has the other differences.
--
-- since: 0.1
-- grain: job, rank, path_window, position
-- returns:
--   job              VARCHAR  -   run of a program
--   rank             INTEGER  -   rank of the process
--   path_window      VARCHAR  -   window of the path: `step N`, `NAME #INSTANCE` or `trace`
--   position         BIGINT   -   place on the path, from 1
--   event_id         BIGINT   -   event that takes the edge's time; NULL for dependencies
--   name             VARCHAR  -   name of that event
--   edge             VARCHAR  -   kind of edge, as above: operator, dependency,
--                                 kernel_launch_delay, kernel_kernel_delay or sync_dependency
--   bound_by         VARCHAR  -   cpu_bound, gpu_compute_bound, gpu_communication_bound,
--                                 gpu_kernel_kernel_overhead, gpu_kernel_launch_overhead or
--                                 data_loading; NULL for the two kinds of edge that take no time
--   start_ns         BIGINT   ns  start of the edge
--   end_ns           BIGINT   ns  end of the edge
--   time_ns          BIGINT   ns  time that the edge takes
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
