-- How much shorter a step would be if something were faster or gone.
--
-- Reads what `hta-sql critical-path ARCHIVE` (or run.compute_critical_path) has computed for a
-- window of a job; there `--faster NAME=TIMES` asks about what the user names.
--
-- Every node of the graph of all ranks (see critical_path, critical_path_ranks) came once all that
-- it waited for had come, and after a delay that the trace tells. With other delays all nodes are
-- computed anew, in order:
--
--     communication_at_median  collectives and messages as fast as the median of those alike
--     communication_hidden     their transfers take nothing; the last rank is still waited for
--     launch_overhead_gone     calls that launch take nothing, and launched work may begin at once
--     data_loading_gone        loading data takes nothing
--     rank_as_median           the rank with most of the job's path works as the median rank does
--     faster                   the subject takes `factor` times less: the three kernels with most
--                              of the job's path twice, and what was asked for
--
-- `method` has each one's rule. Assumed is that the program does the same in the same order, and
-- that what waited in the trace is all that waits: what could have come later than it did is taken
-- to need the median delay of its kind. A window lasts on the host, from when the last rank begins
-- it until the last one has ended it; where devices take longer, as they do where the host is far
-- ahead, on the devices. What earlier windows would gain is not counted. HTA has no counterpart.
--
-- since: 0.1
-- grain: job, path_window, scenario, subject, factor
-- returns:
--   job          VARCHAR  -      run of a program
--   path_window  VARCHAR  -      `step N`, `NAME #INSTANCE` or `trace`
--   scenario     VARCHAR  -      what is assumed, as above
--   subject      VARCHAR  -      name or rank of which it is; NULL: all
--   factor       DOUBLE   -      how many times faster it is; NULL for other scenarios
--   step_ns      BIGINT   ns     what the window takes as recorded
--   new_step_ns  BIGINT   ns     what it would take
--   gain_ns      BIGINT   ns     step_ns - new_step_ns
--   gain_frac    DOUBLE   0-1    gain_ns / step_ns
--   edge_count   BIGINT   count  edges of the graph that change
--   method       VARCHAR  -      what is assumed, in words
-- check: gain_ns = step_ns - new_step_ns AND gain_ns >= 0
-- check: edge_count > 0 OR gain_ns = 0
-- check: gain_frac BETWEEN 0 AND 1
-- reads: what_if_times
CREATE OR REPLACE MACRO what_if_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_windows VARCHAR[] := NULL  -- windows to report, as path_window has them [default: all]
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
