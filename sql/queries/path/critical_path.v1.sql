-- What bounds a step on a rank: the longest chain of work that had to be done one after the other.
--
-- Reads what `hta-sql critical-path ARCHIVE` (or run.compute_critical_path) has computed for a
-- step, an annotation or a whole trace; without that there are no rows.
--
-- A rank's graph has a node where each operator, call and GPU activity begins and ends, and an edge
-- from each to what had to wait for it. The path is the way through the graph that takes most:
--
--     host     [aten::mm  [launch]    )[aten::item  [cudaStreamSynchronize          ])
--     stream                   [==== gemm ====)[==== copy ====)
--     path     ------------>    -------------> --------------->                    -->
--               operator      | operator       operator         sync_dependency
--                             launch delay    kernel-kernel delay
--
--     operator             time of an operator, call or GPU activity itself
--     dependency           one thread's work after another's, or after a pause; takes nothing
--     kernel_launch_delay  from a launch's beginning to that of its activity
--     kernel_kernel_delay  from an activity's end to the beginning of the next on its stream
--     sync_dependency      who waited for a stream, an event or a device goes on; takes nothing
--
-- A call that waits for the device takes nothing itself: what it waits for is on the path. Nor does
-- the time between outermost operators, of which a trace tells nothing; critical_path_ranks counts
-- it as the host's.
--
-- Which stream waits for which, and what a call waited for, is from the profiler's cuda_sync rows
-- (enable_cuda_sync_events). Most traces have none. Then what ended last while a call waited is
-- taken for what it waited for; and where an activity began 100 us or more after its launch and
-- after the one before it, what ended last before it on the device. All activities of a graph
-- launch are in.
--
-- HTA's critical_path_analysis has the same edges and takes the same for each, but knows only one
-- activity of a graph launch, and autograd's thread as apart from training's unless their names say
-- so; docs/differences-from-hta.md has the rest.
--
-- since: 0.1
-- grain: job, rank, path_window, position
-- returns:
--   job              VARCHAR  -   run of a program
--   rank             INTEGER  -   rank of the process
--   path_window      VARCHAR  -   `step N`, `NAME #INSTANCE` or `trace`
--   position         BIGINT   -   place on the path, from 1
--   event_id         BIGINT   -   whose time the edge is; NULL for dependencies
--   name             VARCHAR  -   of that event
--   edge             VARCHAR  -   operator, dependency, kernel_launch_delay, kernel_kernel_delay or
--                                 sync_dependency
--   bound_by         VARCHAR  -   cpu_bound, gpu_compute_bound, gpu_communication_bound,
--                                 gpu_kernel_kernel_overhead, gpu_kernel_launch_overhead or
--                                 data_loading; NULL where the edge takes nothing by its kind
--   start_ns         BIGINT   ns  where the edge begins
--   end_ns           BIGINT   ns  where it ends
--   time_ns          BIGINT   ns  what it takes
--   source_event_id  BIGINT   -   event at whose start or end it begins
--   target_event_id  BIGINT   -   event at whose start or end it ends
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
    only_windows VARCHAR[] := NULL  -- windows to report, as path_window has them [default: all]
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
