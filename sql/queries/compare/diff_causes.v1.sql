-- Ranked causes of the time difference between two jobs, beyond noise.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
-- A change that follows from another change is not a cause. For example, if an operator is called
-- more often, the operators and kernels inside it also run more often. If shapes change, kernels
-- take more or less time. The query reports each cause once, at the place where it begins:
--
--     cause         name        what changes
--     calls         operator    how often it runs per call of its caller
--     shapes        operator    shapes of the inputs
--     kernels       operator    kernels that the operator launches on the
--                               same shapes
--     kernel_time   kernel      duration per call, in the same operator on
--                               the same shapes
--     transfer      collective  transfer time without waits, of a collective
--                               or message of the same size and group size
--     host_time     operator    host time per call, without the operators,
--                               runtime calls and driver calls inside
--     data_loading  annotation  time to fetch the next batch, in annotations
--                               with DataLoader in their names
--
-- An operator's caller is the operator around it. If a backward operator has no operator around it,
-- its caller is its forward operator. The backward pass of a new operator is therefore part of the
-- new operator. Operators are compared if three names are equal: their own, that of the caller, and
-- that of the caller's caller. A kernel launched outside operators is compared
-- by its own name. If its number of calls changes, `cause` is kernels and `name` is the kernel's
-- name. If one side has no recorded shapes, all calls count as calls on the same shapes.
--
-- Calls, shapes and kernels are compared by rates:
--   * calls: how often an operator runs per call of its caller. For outermost operators, how often
--     it runs per rank.
--   * shapes: share of the operator's calls that have these shapes.
--   * kernels: how often a kernel runs per call of the operator on the same shapes. For kernels
--     outside operators, how often it runs per rank.
--
-- The query computes each rate in each step. If a rate does not vary from step to step on either
-- side, any difference between the two sides is a cause. An example is an operator that runs twice
-- per call in all steps of the base, and three times in all steps of the test. Otherwise, the
-- difference has to exceed the noise of the steps, which is measured as in step_diff. A change of
-- `calls` (calls per call of the caller) is a cause only if the calls per step change too.
--
-- The other causes are compared by the duration per call. A duration has to change by at least both
-- of these limits:
--
--     cause                    diff_ratio  |diff_per_step_ns|
--     kernel_time, transfer    3 %         0.1 % of the base's mean step
--     host_time, data_loading  10 %        1 % of the base's mean step
--
-- diff_ratio is the relative change per call. diff_per_step_ns is the change of all calls together,
-- per step and rank. For example, if all kernels take 2 % longer on a slower GPU, the query reports
-- no cause. If the base has no steps, host_time and data_loading are not reported, and kernel_time
-- and transfer have only the limit of 3 %.
--
-- For host_time and data_loading, the change also has to exceed the noise of the steps.
--
-- For kernel_time and transfer, the change also has to exceed the noise of single calls: how much
-- the durations of calls vary on each side. In addition, it has to exceed the noise of the steps,
-- or to pass this test, which compares a kernel with all kernels, or a transfer with all transfers:
--
--     ratio     duration per call in the test / duration per call in the base
--     relative  ratio / median ratio of all kernels, or of all transfers
--
-- For example, if a kernel takes 10 % longer and the median kernel takes 4 % longer, relative is
-- 1.10 / 1.04 = 1.058. A change passes this test if all three hold:
--   * |ratio - 1| exceeds the noise of single calls.
--   * |relative - 1| exceeds the noise of single calls.
--   * |relative - 1| exceeds the noise of `relative` from step to step. With one step on each side,
--     this condition does not apply.
--
-- This test finds a change even if all kernels vary together from step to step.
--
-- The times of a row are GPU time or host time:
--   * host_time and data_loading: host time
--   * kernels, kernel_time and transfer: GPU time
--   * calls and shapes: time of all GPU activities launched in the operator, at any depth; if there
--     are none, the operator's host time
--
-- For transfer, a collective is one call, not one call per rank. Its calls and times per step are
-- divided by the number of ranks compared, like those of all causes. For example, if 8 ranks take
-- part in 16 collectives per step, the row has 16 / 8 = 2 calls per step and rank.
--
-- diff_per_step_ns depends on the cause:
--
--     shapes, kernels  test_per_step_ns - base_per_step_ns
--     calls            added calls * mean time per call over both sides
--     all others       test_per_step_ns minus the time that the test's calls
--                      would take at the base's mean durations
--
-- The added calls are (test rate - base rate) * calls of the caller per step and rank in the test.
--
-- The values of diff_per_step_ns do not add up to the difference of the step times, since GPU
-- activities overlap with each other and with work on the host. what_if computes the time that a
-- step would save if a kernel or operator were faster.
--
-- since: 0.1
-- grain: cause, name
-- needs: traces
-- returns:
--   cause             VARCHAR  -     what changes, as above
--   name              VARCHAR  -     operator, kernel, collective or annotation that changes; for
--                                    transfer: name, number of elements, data type and group size
--   position          BIGINT   -     1 for the largest |diff_per_step_ns|
--   inside            VARCHAR  -     callers of the operator, or operators that launch the kernel;
--                                    only the first three by name if there are more; NULL if there
--                                    are none
--   base_detail       VARCHAR  -     shapes or kernels that are more frequent in the base; NULL for
--                                    other causes, or if there are none
--   test_detail       VARCHAR  -     shapes or kernels that are more frequent in the test; NULL for
--                                    other causes, or if there are none
--   base_calls        DOUBLE   -     calls per step and rank in the base; if cause is kernels:
--                                    calls of the changed kernels
--   test_calls        DOUBLE   -     calls per step and rank in the test; if cause is kernels:
--                                    calls of the changed kernels
--   time_of           VARCHAR  -     gpu or host: whether the next three columns are GPU time or
--                                    host time
--   base_per_step_ns  BIGINT   ns    time per step and rank in the base
--   test_per_step_ns  BIGINT   ns    time per step and rank in the test
--   diff_per_step_ns  BIGINT   ns    time that the cause adds per step and rank, as above
--   diff_ratio        DOUBLE   -     relative change of the duration per call: 0.2 is 20 % longer;
--                                    NULL for calls, shapes and kernels
--   diff_frac         DOUBLE   0-1   |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows;
--                                    NULL if the sum is 0
-- check: cause IN ('calls', 'shapes', 'kernels', 'kernel_time', 'transfer', 'host_time',
--   'data_loading')
-- check: time_of IN ('gpu', 'host')
-- check: position > 0 AND diff_frac BETWEEN 0 AND 1
-- check: (diff_ratio IS NULL) = (cause IN ('calls', 'shapes', 'kernels'))
-- reads: calls_in_contexts, causes_of_calls, causes_of_kernels, causes_of_times, changed_rates,
--   changed_times, compared_activities, compared_job_names, compared_ops, compared_steps,
--   context_totals, counted_steps, first_reshaped, kernels_in_contexts, named_contexts,
--   names_of_things, numbered_steps, ops_in_contexts, parts_of_calls, timed_fetches, timed_kernels,
--   timed_ops, timed_transfers, wholes_of_calls
CREATE OR REPLACE MACRO diff_causes_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base
                                  -- [default: all; the whole trace if there are no steps]
    test_steps BIGINT[] := NULL  -- steps of the test
                                 -- [default: all; the whole trace if there are no steps]
) AS TABLE
WITH
sampled AS MATERIALIZED (
    FROM compared_steps(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
counted AS MATERIALIZED (
    FROM counted_steps(sampled)
),
numbered AS MATERIALIZED (
    FROM numbered_steps(sampled)
),
samples AS MATERIALIZED (
    SELECT sample, side, count(*) AS rank_count
    FROM numbered
    GROUP BY sample, side
),
ops AS MATERIALIZED (
    FROM compared_ops(numbered, base_job, test_job)
),
-- Names by their hashes. Joins of a million operators are faster with hashes than with names.
names AS MATERIALIZED (
    SELECT name_hash, any_value(name) AS name
    FROM ops
    GROUP BY name_hash
),
shapes AS (
    SELECT dims_hash, any_value(input_dims) AS input_dims
    FROM ops
    GROUP BY dims_hash
),
in_contexts AS MATERIALIZED (
    FROM ops_in_contexts(ops, samples)
),
calls AS MATERIALIZED (
    FROM calls_in_contexts(in_contexts)
),
contexts AS MATERIALIZED (
    FROM named_contexts(calls, names)
),
activities AS MATERIALIZED (
    FROM compared_activities(numbered, base_job, test_job)
),
kernels AS MATERIALIZED (
    FROM kernels_in_contexts(activities, in_contexts)
),
parts AS MATERIALIZED (
    FROM parts_of_calls(calls, kernels)
),
wholes AS MATERIALIZED (
    FROM wholes_of_calls(calls, samples)
),
changed_counts AS MATERIALIZED (
    FROM changed_rates(parts, wholes)
),
callers AS (
    SELECT
        w.whole,
        sum(w.times) FILTER (w.side = 'test') / any_value(n.test_steps_count) AS test_calls
    FROM wholes AS w
    CROSS JOIN counted AS n
    WHERE w.cause = 'calls'
    GROUP BY w.whole
    HAVING min(w.side) < max(w.side)
),
-- Operators whose calls per call of their caller do not change.
steady AS MATERIALIZED (
    SELECT c.*
    FROM contexts AS c
    SEMI JOIN callers ON callers.whole = c.whole
    ANTI JOIN changed_counts AS d ON d.cause = 'calls' AND d.part = c.context
),
reshaped AS MATERIALIZED (
    SELECT s.*
    FROM steady AS s
    SEMI JOIN changed_counts AS d ON d.cause = 'shapes' AND d.whole = s.context
    WHERE s.has_shapes
),
steady_strata AS MATERIALIZED (
    SELECT 0::UBIGINT AS stratum
    UNION ALL
    SELECT DISTINCT hash(c.context, c.dims_hash) AS stratum
    FROM calls AS c
    SEMI JOIN steady ON steady.context = c.context
),
changed_kernels AS MATERIALIZED (
    SELECT d.*
    FROM changed_counts AS d
    SEMI JOIN steady_strata AS s ON s.stratum = d.whole
    WHERE d.cause = 'kernels'
),
changed_contexts AS MATERIALIZED (
    SELECT
        'calls' AS cause,
        d.part AS context,
        (d.test_rate - d.base_rate) * callers.test_calls AS added_calls
    FROM changed_counts AS d
    JOIN callers ON callers.whole = d.whole
    WHERE d.cause = 'calls'
    UNION ALL
    SELECT 'shapes' AS cause, context, NULL AS added_calls
    FROM first_reshaped(reshaped, in_contexts)
),
totals AS MATERIALIZED (
    FROM context_totals(changed_contexts, calls, in_contexts, activities, samples, counted)
),
-- If an operator's calls per step do not change, its changed rate only balances a changed rate of
-- its caller. This is no cause.
call_causes AS (
    SELECT d.*
    FROM changed_contexts AS d
    JOIN totals AS t ON t.context = d.context
    WHERE d.cause = 'shapes' OR abs(t.test_calls - t.base_calls) > 1e-9
),
changed_shapes AS (
    SELECT d.whole AS context, s.input_dims, d.test_rate > d.base_rate AS is_of_test
    FROM changed_counts AS d
    JOIN shapes AS s ON s.dims_hash = d.part
    WHERE d.cause = 'shapes'
),
kernel_times AS (
    FROM timed_kernels(kernels, steady_strata, changed_kernels)
),
transfers AS MATERIALIZED (
    FROM timed_transfers(numbered, compared_job_names(base_job, test_job))
),
fetches AS MATERIALIZED (
    FROM timed_fetches(numbered, base_job, test_job)
),
timed AS (
    FROM kernel_times
    UNION ALL BY NAME
    SELECT * EXCLUDE (name)
    FROM transfers
    UNION ALL BY NAME
    FROM timed_ops(ops, calls, numbered, base_job, test_job) AS o
    ANTI JOIN reshaped AS r ON r.name_hash = o.thing
    UNION ALL BY NAME
    SELECT * EXCLUDE (name)
    FROM fetches
),
timed_on_sides AS MATERIALIZED (
    SELECT t.*, s.side
    FROM timed AS t
    JOIN samples AS s ON s.sample = t.sample
),
changed_durations AS (
    FROM changed_times(timed_on_sides, counted)
),
things AS (
    FROM names_of_things(kernels, contexts, names, transfers, fetches)
),
causes AS (
    FROM causes_of_calls(call_causes, contexts, totals, changed_shapes)
    UNION ALL BY NAME
    FROM causes_of_kernels(kernels, changed_kernels, contexts, samples, counted)
    UNION ALL BY NAME
    FROM causes_of_times(changed_durations, things, numbered)
)
SELECT
    cause,
    name,
    row_number() OVER (ORDER BY abs(round(diff_ns)) DESC, cause, name) AS position,
    regexp_replace(inside, '^([^,]*, [^,]*, [^,]*), .*$', '\1, ...') AS inside,
    base_detail,
    test_detail,
    base_calls,
    test_calls,
    time_of,
    round(base_ns)::BIGINT AS base_per_step_ns,
    round(test_ns)::BIGINT AS test_per_step_ns,
    round(diff_ns)::BIGINT AS diff_per_step_ns,
    diff_ratio,
    abs(round(diff_ns)::BIGINT) / nullif(sum(abs(round(diff_ns)::BIGINT)) OVER (), 0) AS diff_frac
FROM causes
ORDER BY position;
