-- Ranked causes of the time difference between two jobs, beyond noise.
--
-- The query compares a base (before) with a test (after). Each is a job, or selected ranks or steps
-- of a job; both can be of the same job. By default the base is the first job by name, and the test
-- is the last.
--
-- A change that follows from another change is not a cause. If an operator is called more often,
-- the operators and kernels inside it run more often too. Other shapes change the time of kernels.
-- The query names each cause once, where it begins:
--
--     cause         name        what changes
--     calls         operator    how often it is called, per call of its caller
--     shapes        operator    the shapes of its inputs
--     kernels       operator    the kernels that it launches on the same shapes
--     kernel_time   kernel      its duration on the same input
--     transfer      collective  its transfer time, without waits; also of a message
--     host_time     operator    its self time on the host
--     data_loading  annotation  the time to fetch the next batch
--
-- An operator's caller is the operator around it. If a backward operator has none around it, its
-- caller is its forward operator. The backward pass of a new operator is therefore part of that
-- operator. Operators of one name are compared separately if their callers, or the callers of
-- these, have different names. Kernels launched outside operators are compared by their own names.
--
-- Counts are compared step by step: calls per call of the caller, shapes and kernels per call of
-- the operator. Outermost operators, and kernels outside operators, count per rank. If a rate is
-- the same in all steps of each side, any difference is a cause. Otherwise the difference has to
-- exceed the noise of the steps, which is measured as in step_diff.
--
-- A duration has to change by more than the noise of the steps. For kernels and transfers it also
-- has to change by more than the noise of single calls, by at least 3 %, and by at least 0.1 % of
-- the base's step. For host_time and data_loading the limits are 10 % and 1 % of the step; if the
-- base has no steps, these two causes are not reported. A uniform change of the hardware below
-- these limits is not reported either.
--
-- For kernels and transfers, a change relative to the median kernel or transfer may take the place
-- of a change beyond the noise of steps. This applies if all of them vary together from step to
-- step, or if each side has only one step.
--
-- Times are GPU times, except for host_time and data_loading, which have host times. For calls and
-- shapes, the time is that of everything launched in the operator, at any depth. If it launches
-- nothing, it is the operator's host time. For calls, the difference is what the changed rate adds
-- to a step of the test. It leaves out what follows from the caller's own rate. Differences do not
-- add up to the step's difference, since host and GPU work overlap, and so do kernels. what_if
-- computes what a step would take.
--
-- since: 0.1
-- grain: cause, name
-- returns:
--   cause             VARCHAR  -     what changes, as above
--   name              VARCHAR  -     operator, kernel, collective or annotation that changes
--   position          BIGINT   -     1 for the largest |diff_per_step_ns|
--   inside            VARCHAR  -     operators that call or launch it; only the first three by name
--                                    if there are more
--   base_detail       VARCHAR  -     shapes or kernels that only the base has, or has more often
--   test_detail       VARCHAR  -     shapes or kernels that only the test has, or has more often
--   base_calls        DOUBLE   -     calls per step and rank in the base
--   test_calls        DOUBLE   -     calls per step and rank in the test
--   time_of           VARCHAR  -     gpu or host: where the time of the next columns is spent
--   base_per_step_ns  BIGINT   ns    time per step and rank in the base
--   test_per_step_ns  BIGINT   ns    time per step and rank in the test
--   diff_per_step_ns  BIGINT   ns    time that the cause adds per step and rank
--   diff_ratio        DOUBLE   -     relative change of a call's duration, 0.2 is 20 % longer; NULL
--                                    for calls, shapes and kernels
--   diff_frac         DOUBLE   0-1   |diff_per_step_ns| / its sum over all rows
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
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, inside and outside steps]
    test_steps BIGINT[] := NULL  -- steps of the test [default: all, inside and outside steps]
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
-- Operators that are called as often as before, per call of their caller.
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
-- If an operator's calls per step are the same, only its caller's rate changes: no cause.
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
