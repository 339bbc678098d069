-- Time that a step would save if something were faster or gone.
--
-- `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the scenarios
-- below for a window of a job: a step, an annotation or the whole trace. Its option `--faster
-- NAME=TIMES` adds a scenario in which NAME is TIMES times faster.
--
-- The scenarios use the graph of all ranks (see critical_path and critical_path_ranks). Each node
-- waits for other nodes, and each edge between two nodes has a delay:
--
--     time of a node = maximum over the edges to it of
--                      (time of the edge's source + delay)
--
-- With the delays of the trace, this formula gives the recorded times. A scenario shortens some
-- delays, and then all times are computed again:
--
--     communication_at_median  no collective or message is slower than the
--                              median of its kind in the archive: same name,
--                              data type, sizes and group size
--     communication_hidden     transfers take no time; ranks still wait for
--                              the last rank
--     launch_overhead_gone     launch calls take no time, and activities can
--                              begin as soon as their launch begins
--     data_loading_gone        data loading takes no time
--     rank_as_median           on the slowest rank, no operator, call or
--                              kernel takes longer than on the median rank;
--                              the slowest rank has the most time on the
--                              job's path, without communication
--     faster                   the subject takes 1/`factor` of its time; the
--                              subjects are the names given by `--faster`,
--                              and (with factor 2) the three kernels with the
--                              most time on the job's path
--
-- The column `method` states each scenario's rule. All scenarios assume that the program does the
-- same work in the same order, with the same dependencies as in the trace.
--
-- If a node waits for several nodes, the trace shows the delay only for the node that came last.
-- The delays of the other nodes are assumed to be:
--   * from a launch to its activity: the median launch delay
--   * from the end of an activity to the next activity: the median kernel-kernel delay
-- No assumed delay is longer than the recorded time between the two nodes.
--
-- step_ns and new_step_ns are the longer of two durations:
--   * on the host: from the moment when all ranks have begun the window to the moment when all
--     ranks have ended it
--   * on the devices: from the moment when the devices of all ranks can work for the window to the
--     moment when all activities of the window have ended. If the host runs far ahead of the
--     devices, this duration is the longer one.
--
-- The devices of a rank can work for the window once the rank has begun it and its earlier
-- activities have ended. In every scenario, they can do so at the same time as in the trace, and
-- the host begins the window at its recorded time. So time that a scenario would save in earlier
-- windows does not count.
--
-- since: 0.1
-- grain: job, path_window, scenario, subject, factor
-- needs: critical_paths
-- returns:
--   job          VARCHAR  -      run of a program
--   path_window  VARCHAR  -      window of the job: `step N`, `NAME #INSTANCE` or `trace`
--   scenario     VARCHAR  -      name of the scenario, as above
--   subject      VARCHAR  -      name or rank that the scenario changes; NULL if it changes all
--   factor       DOUBLE   -      how many times faster the subject is; NULL unless `scenario` is
--                                faster
--   step_ns      BIGINT   ns     duration of the window as recorded
--   new_step_ns  BIGINT   ns     duration of the window in the scenario
--   gain_ns      BIGINT   ns     step_ns - new_step_ns
--   gain_frac    DOUBLE   0-1    gain_ns / step_ns
--   edge_count   BIGINT   count  edges of the graph whose delay the scenario changes
--   method       VARCHAR  -      rule of the scenario
-- check: gain_ns = step_ns - new_step_ns AND gain_ns >= 0
-- check: edge_count > 0 OR gain_ns = 0
-- check: gain_frac BETWEEN 0 AND 1
-- reads: what_if_times
CREATE OR REPLACE MACRO what_if_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as in path_window [default: all]
) AS TABLE
SELECT
    w.job,
    w.path_window,
    w.scenario,
    w.subject,
    w.factor,
    w.step_ns,
    w.new_step_ns,
    w.step_ns - w.new_step_ns AS gain_ns,
    (w.step_ns - w.new_step_ns) / nullif(w.step_ns, 0) AS gain_frac,
    w.edge_count,
    w.method
FROM what_if_times AS w
WHERE (only_jobs IS NULL OR list_contains(only_jobs, w.job))
  AND (only_windows IS NULL OR list_contains(only_windows, w.path_window))
ORDER BY w.job, w.path_window, gain_ns DESC, w.scenario, w.subject, w.factor;
