-- How long each nn.Module of the model took on host and GPU, forward and backward.
--
-- A module is an instance, numbered by the profiler in its class, at a place in the model: `module`
-- names the instances whose calls it runs in and then itself. One that is called in several others
-- has a row for each of these places, one that calls itself a row for each depth.
--
--     main       [ BertModel_0                            )
--                     [ BertLayer_0          )
--                        [ Linear_0 )  [ Linear_1 )
--     launches     1        2   3        4            5
--     autograd                                              [ of 4 )  [ of 2 and 3 )
--     launches                                                 6         7   8
--
--     module                            forward          backward   self
--     BertModel_0                       1 2 3 4 5        6 7 8      1 5
--     BertModel_0/BertLayer_0             2 3 4          6 7 8
--     BertModel_0/BertLayer_0/Linear_0    2 3              7 8      2 3 7 8
--     BertModel_0/BertLayer_0/Linear_1        4          6          4 6
--
-- A GPU activity belongs to the innermost module around its launch on the launching thread. Where
-- there is none and the launch is of a backward pass, it belongs to the innermost module around the
-- forward operator whose backward pass that is. Figures are of a module and all modules that run in
-- it; those named self of what no such module has.
--
-- All that a backward pass launches is backward, so also what it launches in modules, to compute
-- activations once more (checkpoints). Such calls count for the place in the model where the module
-- was last called outside of backward passes.
--
-- The row without a module, the last of a rank, has what belongs to none: of the optimizer, of
-- backward passes whose forward operator is not known, or of no known launch. So the self times of
-- a rank's rows add up to the time of all its activities. Ranks without modules have no rows: those
-- of profilers that ran without stacks (with_stack), or so old that they told of modules in the
-- arguments of operators instead.
--
-- Calls are of the step in which they begin, activities of that in which their launch does; a
-- module has a row if it has one or the other.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: job, rank, module, name
-- returns:
--   job                         VARCHAR  -      run of a program
--   rank                        INTEGER  -      rank of the process
--   module                      VARCHAR  -      instances from the outermost in, joined by /
--   name                        VARCHAR  -      the instance: class and number
--   depth                       INTEGER  -      0 for the outermost; NULL: no module
--   count                       BIGINT   count  calls
--   host_total_ns               BIGINT   ns     sum of the calls' durations
--   host_self_ns                BIGINT   ns     of this, time in no other module
--   forward_kernel_count        BIGINT   count  GPU activities launched forward
--   forward_kernel_ns           BIGINT   ns     sum of their durations
--   forward_busy_ns             BIGINT   ns     time with one of them or more, on any device
--   forward_self_kernel_count   BIGINT   count  those of no module inside
--   forward_self_kernel_ns      BIGINT   ns     sum of their durations
--   backward_kernel_count       BIGINT   count  the same five, backward
--   backward_kernel_ns          BIGINT   ns     likewise
--   backward_busy_ns            BIGINT   ns     likewise
--   backward_self_kernel_count  BIGINT   count  likewise
--   backward_self_kernel_ns     BIGINT   ns     likewise
--   example_event_id            BIGINT   -      a call: that with the lowest event_id
-- check: host_self_ns BETWEEN 0 AND host_total_ns
-- check: count > 0 OR forward_kernel_count + backward_kernel_count > 0
-- check: (count > 0) = (example_event_id IS NOT NULL)
-- check: forward_self_kernel_count BETWEEN 0 AND forward_kernel_count
-- check: forward_self_kernel_ns BETWEEN 0 AND forward_kernel_ns
-- check: forward_busy_ns BETWEEN 0 AND forward_kernel_ns
-- check: backward_self_kernel_count BETWEEN 0 AND backward_kernel_count
-- check: backward_self_kernel_ns BETWEEN 0 AND backward_kernel_ns
-- check: backward_busy_ns BETWEEN 0 AND backward_kernel_ns
-- check: (module IS NULL) = (name IS NULL) AND (module IS NULL) = (depth IS NULL)
-- check: module IS NOT NULL OR count = 0
-- check: suffix(module, name)
-- reads: module_totals, traces
CREATE OR REPLACE MACRO module_stats_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, also outside steps]
) AS TABLE
WITH
ranks AS (
    SELECT DISTINCT t.job, t.rank
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, t.rank))
),
chosen AS MATERIALIZED (
    SELECT
        row_number() OVER (ORDER BY job, rank) AS rank_number,
        job,
        rank,
        only_steps AS step_numbers
    FROM ranks
)
SELECT c.job, c.rank, m.* EXCLUDE (path_number, rank_number)
FROM module_totals(chosen, only_jobs, only_ranks) AS m
JOIN chosen AS c ON c.rank_number = m.rank_number
ORDER BY m.path_number;
