-- Why one job takes longer or shorter than another: what changed first, beyond noise, ranked.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
-- What follows from something else is no cause: an operator that is called more often makes the
-- operators and kernels in it run more often, other shapes make kernels slower. Each cause is named
-- once, where it begins:
--
--     cause         what is otherwise                              name
--     calls         an operator is called more or less often       operator
--                   in what it is called in
--     shapes        it runs on inputs of other shapes              operator
--     kernels       on the same shapes it launches other kernels   operator
--     kernel_time   on the same input a kernel takes longer        kernel
--     transfer      a collective's transfer does, without waiting  collective
--     host_time     an operator's own time on the host does        operator
--     data_loading  fetching the next batch does                   annotation
--
-- Operators are told apart by what they are called in, and by what that is called in; backward ones
-- that nothing is around by their forward operator. So the backward pass of an operator that is new
-- is part of it. Kernels that are not launched in operators are compared by their names.
--
-- How often something happens is compared step by step for each time that what is around it does.
-- Where that is the same in every step, any difference is a cause; else it has to be beyond the
-- noise of the steps, told as in step_diff. How long a call takes has to be beyond the noise of
-- steps and of calls, and 3 % at least, for kernels and transfers also 0.1 % of a step; on the host
-- 10 % and 1 % of a step. So what the hardware does otherwise all over by less is not named here.
--
-- The time is that of the GPU work, all that is launched below the operator for calls and shapes;
-- of the host where there is none. Of calls, the difference is what the changed rate adds to a step
-- of the test, not what follows from what they are called in. Times of the host and those of the
-- GPU, and of kernels that overlap, do not add up to the difference of the step: what_if tells what
-- a step would take.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: cause, name
-- returns:
--   cause             VARCHAR  -     what is otherwise
--   name              VARCHAR  -     whose
--   position          BIGINT   -     1 for the largest difference of time
--   inside            VARCHAR  -     operators that call or launch it; of more than three the first
--   base_detail       VARCHAR  -     shapes or kernels that only the base has, or more often
--   test_detail       VARCHAR  -     those that the test has
--   base_calls        DOUBLE   -     calls in a step of a rank
--   test_calls        DOUBLE   -     likewise
--   time_of           VARCHAR  -     gpu or host: whose time the next columns are
--   base_per_step_ns  BIGINT   ns    time in a step of a rank
--   test_per_step_ns  BIGINT   ns    likewise
--   diff_per_step_ns  BIGINT   ns    what the cause adds to a step of a rank
--   diff_ratio        DOUBLE   -     of kernel_time, transfer, host_time and data_loading: how much
--                                    longer a call takes, 0.2 is 20 %; else NULL
--   diff_frac         DOUBLE   0-1   |diff_per_step_ns| / sum of these over all rows
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
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, also outside steps]
    test_steps BIGINT[] := NULL  -- steps of the test [default: all, also outside steps]
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
-- Words of the hashes, for the end: a million operators are joined faster without.
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
-- Called as often as before, for each call of what they are called in.
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
-- Where only what it is called in is called more or less often, it is no cause.
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
