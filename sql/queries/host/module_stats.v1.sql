-- Host and GPU time of each nn.Module of the model, forward and backward.
--
-- A row is one module at one place in the model. A module is an instance of a class, and the
-- profiler numbers the instances of each class. `module` gives the place. It lists the instances
-- around the module's calls, outermost first, and then the module itself.
--
--   * A module that is called in several other modules has one row per place.
--   * A module that calls itself has one row per depth.
--
-- In this drawing, the modules launch activities 1 to 5, and their backward passes launch
-- activities 6 to 8. `[of 4)` is the backward pass of the operator that launched activity 4.
--
--     main       [ BertModel_0                     )
--                    [ BertLayer_0             )
--                       [Linear_0)  [Linear_1)
--     launches     1      2   3        4         5
--     autograd                                        [of 4)  [of 2, 3)
--     launches                                          6       7  8
--
--     module                            forward     backward  self
--     BertModel_0                       1 2 3 4 5   6 7 8     1 5
--     BertModel_0/BertLayer_0             2 3 4     6 7 8
--     BertModel_0/BertLayer_0/Linear_0    2 3         7 8     2 3 7 8
--     BertModel_0/BertLayer_0/Linear_1        4     6         4 6
--
-- A GPU activity belongs to the first of these modules that exists:
--
--   * the innermost module around its launch, on the launching thread
--   * if the launch is part of a backward pass: the innermost module around the forward operator
--     whose gradients are computed there
--
-- The figures of a module include all modules that run inside it. Figures with `self` in their
-- names do not count the modules inside.
--
-- Everything that a backward pass launches counts as backward, and everything else counts as
-- forward. With checkpoints, the backward pass calls a module again, to compute its activations
-- again. What this second call launches counts as backward. If no module is around the second call,
-- the second call counts in the row of this module's last call outside backward passes.
--
-- Activities that belong to no module are in the last row of a rank. In this row, `module` is NULL.
-- Examples:
--
--   * activities of the optimizer
--   * activities of backward passes whose forward operator is not known
--   * activities without a known launch
--
-- So the activities of a rank are split up completely: the sum of their durations is the sum of
-- forward_self_kernel_ns and backward_self_kernel_ns over all rows of the rank.
--
-- A rank without recorded modules has no rows. Either its profiler ran without stacks (with_stack),
-- or its profiler is so old that it recorded modules in the arguments of operators.
--
-- A call counts in the step in which it begins. An activity counts in the step in which its launch
-- begins. A module has a row if it has a call or an activity.
--
-- since: 0.1
-- grain: job, rank, module, name
-- needs: nn_modules
-- returns:
--   job                         VARCHAR  -      run of a program
--   rank                        INTEGER  -      rank of the process
--   module                      VARCHAR  -      instances as above, outermost first, joined by /
--   name                        VARCHAR  -      the instance: class and number
--   depth                       INTEGER  -      number of modules around the module; 0 for the
--                                               outermost; NULL: no module
--   count                       BIGINT   count  calls of the module
--   host_total_ns               BIGINT   ns     sum of the calls' durations
--   host_self_ns                BIGINT   ns     host_total_ns without the time in modules inside
--   forward_kernel_count        BIGINT   count  GPU activities launched in the forward pass
--   forward_kernel_ns           BIGINT   ns     sum of these activities' durations
--   forward_busy_ns             BIGINT   ns     time with at least one of these activities, on any
--                                               device
--   forward_self_kernel_count   BIGINT   count  forward activities that belong to no module inside
--   forward_self_kernel_ns      BIGINT   ns     sum of these activities' durations
--   backward_kernel_count       BIGINT   count  GPU activities launched in the backward pass
--   backward_kernel_ns          BIGINT   ns     sum of these activities' durations
--   backward_busy_ns            BIGINT   ns     time with at least one of these activities, on any
--                                               device
--   backward_self_kernel_count  BIGINT   count  backward activities that belong to no module inside
--   backward_self_kernel_ns     BIGINT   ns     sum of these activities' durations
--   example_event_id            BIGINT   -      the call with the lowest event_id; NULL if count is
--                                               0
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
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
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
