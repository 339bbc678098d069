-- How long each activity's launch took, and how long after the launch the activity began.
--
--     host    [== launch ==)           cpu_ns 13
--     GPU                       [====) launch_delay_ns 5, gpu_ns 5, is_short
--
-- Each activity with a launch has one row. Its launch is the runtime or driver call with the same
-- correlation id, regardless of the call's name. If several calls have this id, the outermost is
-- the launch. The activities of a CUDA graph have one row each, with the same launch.
--
-- launch_delay_ns runs from the launch's end to the activity's start. It is 0 if the activity
-- starts before the launch ends. If an activity starts before its launch begins, the clocks of host
-- and GPU disagree. launch_summary counts such activities.
--
-- An activity is short if it runs for less time than its launch takes. A series of short activities
-- cannot keep the GPU busy, since each launch takes longer than its activity. A launch is an
-- outlier if it takes longer than runtime_cutoff_ns. An activity is an outlier if its delay is
-- longer than launch_delay_cutoff_ns.
--
-- HTA's get_cuda_kernel_launch_stats reports the same cpu_ns, gpu_ns and launch_delay_ns, but
-- recognises launches by five function names. HTA has no rows for activities launched by HIP, by
-- cuLaunchKernel, by a CUDA graph or by a synchronous copy call. HTA uses the cutoffs only for its
-- histograms. HTA's histogram of short kernels leaves out launches that are longer than the cutoff;
-- is_short includes them.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: launches
-- returns:
--   job                 VARCHAR  -   run of a program
--   rank                INTEGER  -   rank of the process
--   event_id            BIGINT   -   event_id of the activity
--   launch_id           BIGINT   -   event_id of the launch
--   correlation         BIGINT   -   correlation id of launch and activity
--   launch_name         VARCHAR  -   name of the launch
--   name                VARCHAR  -   name of the activity
--   device              BIGINT   -   GPU, as the process numbers it
--   stream              BIGINT   -   stream on the device
--   step                BIGINT   -   step in which the launch began; NULL outside steps
--   cpu_ns              BIGINT   ns  duration of the launch
--   gpu_ns              BIGINT   ns  duration of the activity
--   launch_delay_ns     BIGINT   ns  launch's end to activity's start; at least 0
--   is_short            BOOLEAN  -   gpu_ns < cpu_ns
--   is_runtime_outlier  BOOLEAN  -   cpu_ns > runtime_cutoff_ns
--   is_delay_outlier    BOOLEAN  -   launch_delay_ns > launch_delay_cutoff_ns
-- check: cpu_ns >= 0 AND gpu_ns >= 0 AND launch_delay_ns >= 0
-- check: is_short = (gpu_ns < cpu_ns)
-- reads: activities_of
CREATE OR REPLACE MACRO launch_stats_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL,  -- steps to list [default: the whole trace]
    runtime_cutoff_ns BIGINT := 50000,  -- ns; a launch that takes longer is an outlier
    launch_delay_cutoff_ns BIGINT := 100000,  -- ns; an activity with a longer delay is an outlier
    include_memory BOOLEAN := true  -- whether copies and memsets count
) AS TABLE
SELECT
    a.job,
    a.rank,
    a.event_id,
    a.launch_id,
    a.correlation,
    a.launch_name,
    a.name,
    a.device,
    a.stream,
    a.step,
    a.launch_end_ns - a.launch_start_ns AS cpu_ns,
    a.dur_ns AS gpu_ns,
    greatest(0, a.start_ns - a.launch_end_ns) AS launch_delay_ns,
    gpu_ns < cpu_ns AS is_short,
    cpu_ns > runtime_cutoff_ns AS is_runtime_outlier,
    launch_delay_ns > launch_delay_cutoff_ns AS is_delay_outlier
FROM activities_of(only_jobs, only_ranks, only_steps) AS a
WHERE (include_memory OR a.kind <> 'memory')
  AND a.launch_id IS NOT NULL
ORDER BY a.job, a.rank, a.event_id;
