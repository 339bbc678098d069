-- Time that a step would save if something were faster or gone.
--
-- `hta-sql critical-path ARCHIVE` (or run.compute_critical_path) computes this for a window of a
-- job. Its option `--faster NAME=TIMES` adds a scenario for something that you name.
--
-- In the graph of all ranks (see critical_path, critical_path_ranks), a node comes when everything
-- that it waits for has come, each with the delay that follows from the trace. A scenario changes
-- delays, and all nodes are computed again in order:
--
--     communication_at_median  collectives and messages are no slower than the median of their kind
--     communication_hidden     transfers take no time; ranks still wait for the last one
--     launch_overhead_gone     launch calls take no time, and launched work can begin at once
--     data_loading_gone        loading data takes no time
--     rank_as_median           the rank with most of the job's path, communication left out, is no
--                              slower than the median rank
--     faster                   the subject takes 1/`factor` of its time; the subjects are the three
--                              kernels with most of the job's path, with factor 2, and what
--                              `--faster` names
--
-- `method` states each scenario's rule. All scenarios assume that the program does the same work in
-- the same order, and waits for nothing that it did not wait for in the trace. If a node could have
-- come later without delaying what waits for it, that delay is taken to be the median of its kind.
--
-- A window lasts on the host from when the last rank begins it until the last rank has ended it. If
-- the devices take longer, their time counts instead; this is so if the host is far ahead. Gains in
-- earlier windows are not counted.
--
-- since: 0.1
-- grain: job, path_window, scenario, subject, factor
-- returns:
--   job          VARCHAR  -      run of a program
--   path_window  VARCHAR  -      window of the job: `step N`, `NAME #INSTANCE` or `trace`
--   scenario     VARCHAR  -      what is assumed, as above
--   subject      VARCHAR  -      name or rank that the scenario changes; NULL for all
--   factor       DOUBLE   -      how many times faster the subject is; NULL for other scenarios
--   step_ns      BIGINT   ns     duration of the window as recorded
--   new_step_ns  BIGINT   ns     duration of the window in the scenario
--   gain_ns      BIGINT   ns     step_ns - new_step_ns
--   gain_frac    DOUBLE   0-1    gain_ns / step_ns
--   edge_count   BIGINT   count  edges of the graph that the scenario changes
--   method       VARCHAR  -      rule of the scenario, in words
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
