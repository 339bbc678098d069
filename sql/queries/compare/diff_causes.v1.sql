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
CREATE OR REPLACE MACRO diff_causes_v1(
    base_job VARCHAR := NULL,  -- job that was before; NULL means the first by name
    test_job VARCHAR := NULL,  -- job to compare with it; NULL means the last by name
    base_ranks INTEGER[] := NULL,  -- ranks of the base; NULL means all
    test_ranks INTEGER[] := NULL,  -- ranks of the test; NULL means all
    base_steps BIGINT[] := NULL,  -- steps of the base; NULL means all, and what is outside steps
    test_steps BIGINT[] := NULL  -- steps of the test; likewise
) AS TABLE
WITH RECURSIVE
sampled AS MATERIALIZED (
    FROM compared_steps(
        base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    )
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
usual_step AS (
    SELECT avg(step_ns) FILTER (side = 'base') AS base_step_ns
    FROM numbered
),
ops AS MATERIALIZED (
    FROM compared_ops(numbered, base_job, test_job)
),
have_shapes AS (
    SELECT
        coalesce(bool_or(o.input_dims IS NOT NULL) FILTER (s.side = 'base'), false)
        AND coalesce(bool_or(o.input_dims IS NOT NULL) FILTER (s.side = 'test'), false) AS both_do
    FROM ops AS o
    JOIN samples AS s ON s.sample = o.sample
),
-- Words of the hashes, for the end: a million operators are joined faster without.
names AS MATERIALIZED (
    SELECT name_hash, any_value(name) AS name
    FROM ops
    GROUP BY name_hash
),
shapes AS MATERIALIZED (
    SELECT dims_hash, any_value(input_dims) AS input_dims
    FROM ops
    GROUP BY dims_hash
),
-- What each is called in, and what that is called in: 0 for nothing. Where only one side has
-- shapes, all are alike.
in_parents AS MATERIALIZED (
    SELECT
        o.sample,
        o.op_key,
        o.parent_key,
        o.is_inside,
        o.name_hash,
        CASE WHEN h.both_do THEN o.dims_hash ELSE 0::UBIGINT END AS dims_hash,
        o.input_dims IS NOT NULL AS has_dims,
        o.dur_ns,
        coalesce(p.name_hash, 0::UBIGINT) AS in_hash
    FROM ops AS o
    CROSS JOIN have_shapes AS h
    LEFT JOIN ops AS p ON p.op_key = o.parent_key
),
in_contexts AS MATERIALIZED (
    SELECT
        o.*,
        hash(coalesce(p.in_hash, 0::UBIGINT), o.in_hash, o.name_hash) AS context,
        CASE
            WHEN o.in_hash = 0 THEN 0::UBIGINT
            ELSE hash(coalesce(p.in_hash, 0::UBIGINT), o.in_hash)
        END AS whole,
        coalesce(p.in_hash, 0::UBIGINT) AS around_hash
    FROM in_parents AS o
    LEFT JOIN in_parents AS p ON p.op_key = o.parent_key
),
calls AS MATERIALIZED (
    SELECT
        sample,
        context,
        whole,
        in_hash,
        around_hash,
        name_hash,
        dims_hash,
        bool_or(has_dims) AS has_dims,
        count(*) AS times,
        sum(dur_ns) AS total_ns,
        sum(CASE WHEN is_inside THEN dur_ns ELSE 0 END) AS inside_ns
    FROM in_contexts
    GROUP BY sample, context, whole, in_hash, around_hash, name_hash, dims_hash
),
contexts AS MATERIALIZED (
    SELECT
        c.context,
        any_value(c.whole) AS whole,
        any_value(c.in_hash) AS in_hash,
        any_value(c.around_hash) AS around_hash,
        any_value(c.name_hash) AS name_hash,
        any_value(n.name) AS name,
        bool_and(c.has_dims) AS has_shapes
    FROM calls AS c
    JOIN names AS n ON n.name_hash = c.name_hash
    GROUP BY c.context
),
-- How often an operator is called for each call of what it is called in.
context_calls AS MATERIALIZED (
    SELECT whole, context AS part, sample, sum(times) AS times
    FROM calls
    GROUP BY whole, context, sample
),
callers AS MATERIALIZED (
    SELECT 0::UBIGINT AS whole, side, sample, rank_count AS times
    FROM samples
    UNION ALL
    SELECT hash(c.in_hash, c.name_hash) AS whole, s.side, c.sample, sum(c.times) AS times
    FROM calls AS c
    JOIN samples AS s ON s.sample = c.sample
    GROUP BY ALL
),
changed_calls AS MATERIALIZED (
    FROM changed_rates(context_calls, callers)
),
-- Called as often as before, for each call of what they are called in.
steady AS MATERIALIZED (
    SELECT c.*
    FROM contexts AS c
    WHERE c.whole IN (SELECT whole FROM callers GROUP BY whole HAVING count(DISTINCT side) = 2)
      AND c.context NOT IN (SELECT part FROM changed_calls)
),
-- On which shapes.
shape_calls AS MATERIALIZED (
    SELECT c.context AS whole, c.dims_hash AS part, c.sample, sum(c.times) AS times
    FROM calls AS c
    JOIN steady ON steady.context = c.context
    WHERE steady.has_shapes
    GROUP BY ALL
),
shaped AS MATERIALIZED (
    SELECT c.context AS whole, s.side, c.sample, sum(c.times) AS times
    FROM calls AS c
    JOIN samples AS s ON s.sample = c.sample
    GROUP BY ALL
),
changed_shapes AS MATERIALIZED (
    FROM changed_rates(shape_calls, shaped)
),
reshaped AS MATERIALIZED (
    SELECT *
    FROM steady
    WHERE context IN (SELECT whole FROM changed_shapes)
),
-- Other shapes go down from an operator to all below it, and over to its backward pass. What is
-- around an operator is that of one of its calls.
first_calls AS (
    SELECT o.context, min(o.op_key) AS op_key
    FROM in_contexts AS o
    WHERE o.context IN (SELECT context FROM reshaped)
    GROUP BY o.context
),
above AS (
    SELECT f.context AS of_context, o.parent_key, NULL::UBIGINT AS context
    FROM first_calls AS f
    JOIN in_contexts AS o ON o.op_key = f.op_key
    UNION ALL
    SELECT a.of_context, o.parent_key, o.context
    FROM above AS a
    JOIN in_contexts AS o ON o.op_key = a.parent_key
),
follows AS MATERIALIZED (
    SELECT DISTINCT a.of_context AS context
    FROM above AS a
    WHERE a.context IN (SELECT context FROM reshaped) AND a.context <> a.of_context
),
first_reshaped AS MATERIALIZED (
    SELECT r.*
    FROM reshaped AS r
    WHERE r.context NOT IN (SELECT context FROM follows)
),
-- All that is called below a changed operator, itself included.
below AS (
    SELECT o.context, o.op_key, o.sample
    FROM in_contexts AS o
    WHERE o.context IN (SELECT part FROM changed_calls)
       OR o.context IN (SELECT context FROM first_reshaped)
    UNION ALL
    SELECT b.context, o.op_key, b.sample
    FROM below AS b
    JOIN in_contexts AS o ON o.parent_key = b.op_key
),
activities AS MATERIALIZED (
    SELECT
        s.sample,
        s.rank_place,
        (s.rank_number << 36) + a.op_id AS op_key,
        a.kind,
        a.name,
        hash(a.name) AS kernel_hash,
        a.short_name,
        a.dur_ns
    FROM gpu_activities AS a
    JOIN numbered AS s
        ON s.job = a.job AND s.rank = a.rank AND s.step_key = coalesce(a.step, -1)
    WHERE may_be_compared(a.job, base_job, test_job)
),
launched_below AS (
    SELECT b.context, s.side, sum(a.dur_ns) AS kernel_ns
    FROM below AS b
    JOIN activities AS a ON a.op_key = b.op_key
    JOIN samples AS s ON s.sample = b.sample
    GROUP BY b.context, s.side
),
-- Which kernels an operator launches itself, on the same shapes. Strata are operators in a context
-- and on a shape; 0 is what is launched in none.
ranks_kernels AS MATERIALIZED (
    SELECT
        a.rank_place,
        CASE WHEN o.op_key IS NULL THEN 0::UBIGINT ELSE hash(o.context, o.dims_hash) END AS whole,
        a.kernel_hash AS part,
        a.sample,
        any_value(coalesce(o.context, 0::UBIGINT)) AS context,
        any_value(a.kind) AS kind,
        any_value(a.name) AS name,
        any_value(a.short_name) AS short_name,
        count(*) AS times,
        sum(a.dur_ns) AS total_ns,
        sum(a.dur_ns::DOUBLE * a.dur_ns) AS square_ns
    FROM activities AS a
    LEFT JOIN in_contexts AS o ON o.op_key = a.op_key
    GROUP BY ALL
),
kernel_calls AS MATERIALIZED (
    SELECT
        whole,
        part,
        sample,
        any_value(context) AS context,
        any_value(name) AS name,
        any_value(short_name) AS short_name,
        sum(times) AS times,
        sum(total_ns) AS total_ns
    FROM ranks_kernels
    GROUP BY whole, part, sample
),
launchers AS MATERIALIZED (
    SELECT 0::UBIGINT AS whole, side, sample, rank_count AS times
    FROM samples
    UNION ALL
    SELECT hash(c.context, c.dims_hash) AS whole, s.side, c.sample, sum(c.times) AS times
    FROM calls AS c
    JOIN steady ON steady.context = c.context
    JOIN samples AS s ON s.sample = c.sample
    GROUP BY ALL
),
changed_kernels AS MATERIALIZED (
    FROM changed_rates(kernel_calls, launchers)
),
-- How long each kernel takes there. What communicates also waits: transfers tell.
timed_kernels AS (
    SELECT
        k.part AS thing,
        hash(k.whole, k.rank_place) AS stratum,
        s.side,
        k.sample,
        k.times,
        k.total_ns,
        k.square_ns
    FROM ranks_kernels AS k
    JOIN samples AS s ON s.sample = k.sample
    WHERE k.kind <> 'communication'
      AND k.whole IN (SELECT whole FROM launchers)
      AND (k.whole, k.part) NOT IN (SELECT (c.whole, c.part) FROM changed_kernels AS c)
),
slower_kernels AS (
    FROM changed_times(timed_kernels, counted)
),
members AS MATERIALIZED (
    SELECT *
    FROM paired_members(compared_job_names(base_job, test_job))
    WHERE member_count > 1
),
collectives_in_steps AS (
    SELECT DISTINCT
        s.side,
        s.sample,
        m.job,
        m.collective_id,
        m.transfer_ns,
        concat_ws(
            ' ', m.name, greatest(m.in_nelems, m.out_nelems), m.dtype, 'of', m.member_total, 'ranks'
        ) AS name
    FROM members AS m
    JOIN numbered AS s
        ON s.job = m.job AND s.rank = m.rank AND s.step_key = coalesce(m.step, -1)
),
timed_transfers AS (
    SELECT
        name AS thing,
        0 AS stratum,
        side,
        sample,
        count(*) AS times,
        sum(transfer_ns) AS total_ns,
        sum(transfer_ns::DOUBLE * transfer_ns) AS square_ns
    FROM collectives_in_steps
    GROUP BY name, side, sample
),
slower_transfers AS (
    FROM changed_times(timed_transfers, counted)
),
-- The time of operators on the host, without operators, runtime and driver calls in them.
runtime_calls AS (
    SELECT s.sample, o.name_hash, sum(r.dur_ns) AS called_ns
    FROM host_ops AS r
    JOIN numbered AS s
        ON s.job = r.job AND s.rank = r.rank AND s.step_key = coalesce(r.step, -1)
    JOIN ops AS o ON o.op_key = (s.rank_number << 36) + r.op_id
    WHERE is_runtime_call(r.cat) AND may_be_compared(r.job, base_job, test_job)
    GROUP BY s.sample, o.name_hash
),
inner_calls AS (
    SELECT sample, in_hash AS name_hash, sum(inside_ns) AS called_ns
    FROM calls
    GROUP BY sample, in_hash
    UNION ALL
    FROM runtime_calls
),
called_in AS (
    SELECT sample, name_hash, sum(called_ns) AS called_ns
    FROM inner_calls
    GROUP BY sample, name_hash
),
of_names AS (
    SELECT sample, name_hash, sum(times) AS times, sum(total_ns) AS total_ns
    FROM calls
    GROUP BY sample, name_hash
),
timed_ops AS (
    SELECT
        o.name_hash AS thing,
        0 AS stratum,
        s.side,
        o.sample,
        o.times,
        o.total_ns - coalesce(c.called_ns, 0) AS total_ns,
        NULL::DOUBLE AS square_ns
    FROM of_names AS o
    JOIN samples AS s ON s.sample = o.sample
    LEFT JOIN called_in AS c ON c.sample = o.sample AND c.name_hash = o.name_hash
    WHERE o.name_hash NOT IN (SELECT r.name_hash FROM reshaped AS r)
),
slower_ops AS (
    FROM changed_times(timed_ops, counted)
),
fetches AS (
    SELECT
        o.name AS thing,
        0 AS stratum,
        s.side,
        s.sample,
        count(*) AS times,
        sum(o.dur_ns) AS total_ns,
        NULL::DOUBLE AS square_ns
    FROM host_ops AS o
    JOIN numbered AS s
        ON s.job = o.job AND s.rank = o.rank AND s.step_key = coalesce(o.step, -1)
    WHERE o.cat = 'user_annotation'
      AND contains(o.name, 'DataLoader')
      AND may_be_compared(o.job, base_job, test_job)
    GROUP BY o.name, s.side, s.sample
),
slower_fetches AS (
    FROM changed_times(fetches, counted)
),
-- Calls and times of an operator in its contexts, in a step of a rank.
of_contexts AS (
    SELECT
        c.context,
        sum(c.times) FILTER (s.side = 'base') / any_value(n.base_steps_count) AS base_calls,
        sum(c.times) FILTER (s.side = 'test') / any_value(n.test_steps_count) AS test_calls,
        sum(c.total_ns) FILTER (s.side = 'base') / any_value(n.base_steps_count) AS base_host_ns,
        sum(c.total_ns) FILTER (s.side = 'test') / any_value(n.test_steps_count) AS test_host_ns
    FROM calls AS c
    JOIN samples AS s ON s.sample = c.sample
    CROSS JOIN counted AS n
    GROUP BY c.context
),
gpu_of_contexts AS (
    SELECT
        l.context,
        sum(l.kernel_ns) FILTER (l.side = 'base') / any_value(n.base_steps_count) AS base_gpu_ns,
        sum(l.kernel_ns) FILTER (l.side = 'test') / any_value(n.test_steps_count) AS test_gpu_ns
    FROM launched_below AS l
    CROSS JOIN counted AS n
    GROUP BY l.context
),
callers_in_test AS (
    SELECT c.whole, sum(c.times) / any_value(n.test_steps_count) AS calls
    FROM callers AS c
    CROSS JOIN counted AS n
    WHERE c.side = 'test'
    GROUP BY c.whole
),
-- Of a changed rate, the calls that it adds to a step of the test.
changed_contexts AS (
    SELECT
        'calls' AS cause,
        c.part AS context,
        (c.test_rate - c.base_rate) * w.calls AS added_calls
    FROM changed_calls AS c
    JOIN of_contexts AS o ON o.context = c.part
    JOIN callers_in_test AS w ON w.whole = c.whole
    -- Where only what it is called in is called more or less often, it does not follow, but is
    -- no cause.
    WHERE abs(coalesce(o.test_calls, 0) - coalesce(o.base_calls, 0)) > 1e-9
    UNION ALL
    SELECT 'shapes' AS cause, context, NULL AS added_calls
    FROM first_reshaped
),
shapes_of AS (
    SELECT d.whole AS context, s.input_dims, d.test_rate > d.base_rate AS is_of_test
    FROM changed_shapes AS d
    JOIN shapes AS s ON s.dims_hash = d.part
),
-- Sums of fractions depend on their order: it is always the same.
op_causes AS (
    SELECT
        d.cause,
        c.name,
        string_agg(DISTINCT p.name, ', ' ORDER BY p.name) AS inside,
        CASE WHEN d.cause = 'shapes' THEN (
            SELECT string_agg(DISTINCT f.input_dims, ' ' ORDER BY f.input_dims)
            FROM shapes_of AS f
            JOIN first_reshaped AS r ON r.context = f.context
            WHERE r.name = c.name AND NOT f.is_of_test
        ) END AS base_detail,
        CASE WHEN d.cause = 'shapes' THEN (
            SELECT string_agg(DISTINCT f.input_dims, ' ' ORDER BY f.input_dims)
            FROM shapes_of AS f
            JOIN first_reshaped AS r ON r.context = f.context
            WHERE r.name = c.name AND f.is_of_test
        ) END AS test_detail,
        coalesce(sum(o.base_calls ORDER BY d.context), 0) AS base_calls,
        coalesce(sum(o.test_calls ORDER BY d.context), 0) AS test_calls,
        coalesce(sum(g.base_gpu_ns ORDER BY d.context), 0) AS base_gpu_ns,
        coalesce(sum(g.test_gpu_ns ORDER BY d.context), 0) AS test_gpu_ns,
        coalesce(sum(o.base_host_ns ORDER BY d.context), 0) AS base_host_ns,
        coalesce(sum(o.test_host_ns ORDER BY d.context), 0) AS test_host_ns,
        sum(
            d.added_calls * (coalesce(g.base_gpu_ns, 0) + coalesce(g.test_gpu_ns, 0))
            / (coalesce(o.base_calls, 0) + coalesce(o.test_calls, 0))
            ORDER BY d.context
        ) AS added_gpu_ns,
        sum(
            d.added_calls * (coalesce(o.base_host_ns, 0) + coalesce(o.test_host_ns, 0))
            / (coalesce(o.base_calls, 0) + coalesce(o.test_calls, 0))
            ORDER BY d.context
        ) AS added_host_ns
    FROM changed_contexts AS d
    JOIN contexts AS c ON c.context = d.context
    JOIN of_contexts AS o ON o.context = d.context
    LEFT JOIN gpu_of_contexts AS g ON g.context = d.context
    LEFT JOIN names AS p ON p.name_hash = c.in_hash
    GROUP BY d.cause, c.name
),
-- Of all operators of the name whose kernels changed, on the shapes where they did.
kernels_of AS (
    SELECT
        coalesce(c.name, k.name) AS name,
        k.whole,
        k.part,
        any_value(k.name) AS kernel,
        any_value(k.short_name) AS short_name,
        any_value(d.test_rate > d.base_rate) AS is_of_test,
        any_value(c.in_hash) AS in_hash,
        sum(k.times) FILTER (s.side = 'base') AS base_times,
        sum(k.times) FILTER (s.side = 'test') AS test_times,
        sum(k.total_ns) FILTER (s.side = 'base') AS base_ns,
        sum(k.total_ns) FILTER (s.side = 'test') AS test_ns
    FROM kernel_calls AS k
    JOIN changed_kernels AS d ON d.whole = k.whole AND d.part = k.part
    JOIN samples AS s ON s.sample = k.sample
    LEFT JOIN contexts AS c ON c.context = k.context
    GROUP BY coalesce(c.name, k.name), k.whole, k.part
),
kernel_causes AS (
    SELECT
        k.name,
        string_agg(DISTINCT p.name, ', ' ORDER BY p.name) AS inside,
        string_agg(DISTINCT k.short_name, ', ' ORDER BY k.short_name) FILTER (NOT k.is_of_test)
            AS base_short,
        string_agg(DISTINCT k.short_name, ', ' ORDER BY k.short_name) FILTER (k.is_of_test)
            AS test_short,
        string_agg(DISTINCT k.kernel, ', ' ORDER BY k.kernel) FILTER (NOT k.is_of_test)
            AS base_full,
        string_agg(DISTINCT k.kernel, ', ' ORDER BY k.kernel) FILTER (k.is_of_test) AS test_full,
        -- Where short names do not tell them apart, whole ones do.
        CASE WHEN base_short = test_short THEN base_full ELSE base_short END AS base_detail,
        CASE WHEN base_short = test_short THEN test_full ELSE test_short END AS test_detail,
        coalesce(sum(k.base_times), 0) / any_value(n.base_steps_count) AS base_calls,
        coalesce(sum(k.test_times), 0) / any_value(n.test_steps_count) AS test_calls,
        coalesce(sum(k.base_ns), 0) / any_value(n.base_steps_count) AS base_ns,
        coalesce(sum(k.test_ns), 0) / any_value(n.test_steps_count) AS test_ns
    FROM kernels_of AS k
    CROSS JOIN counted AS n
    LEFT JOIN names AS p ON p.name_hash = k.in_hash
    GROUP BY k.name
),
kernel_names AS (
    SELECT
        k.part,
        any_value(k.name) AS name,
        string_agg(DISTINCT c.name, ', ' ORDER BY c.name) AS inside
    FROM kernel_calls AS k
    LEFT JOIN contexts AS c ON c.context = k.context
    GROUP BY k.part
),
causes AS (
    SELECT
        cause,
        name,
        inside,
        base_detail,
        test_detail,
        base_calls,
        test_calls,
        CASE WHEN base_gpu_ns + test_gpu_ns > 0 THEN 'gpu' ELSE 'host' END AS time_of,
        CASE WHEN time_of = 'gpu' THEN base_gpu_ns ELSE base_host_ns END AS base_ns,
        CASE WHEN time_of = 'gpu' THEN test_gpu_ns ELSE test_host_ns END AS test_ns,
        coalesce(
            CASE WHEN time_of = 'gpu' THEN added_gpu_ns ELSE added_host_ns END,
            test_ns - base_ns
        ) AS diff_ns,
        NULL::DOUBLE AS diff_ratio
    FROM op_causes
    UNION ALL BY NAME
    SELECT
        'kernels' AS cause,
        name,
        inside,
        base_detail,
        test_detail,
        base_calls,
        test_calls,
        'gpu' AS time_of,
        base_ns,
        test_ns,
        test_ns - base_ns AS diff_ns
    FROM kernel_causes
    UNION ALL BY NAME
    SELECT
        'kernel_time' AS cause,
        n.name,
        n.inside,
        t.base_calls,
        t.test_calls,
        'gpu' AS time_of,
        t.base_ns,
        t.test_ns,
        t.slower_ns AS diff_ns,
        t.ratio - 1 AS diff_ratio
    FROM slower_kernels AS t
    JOIN kernel_names AS n ON n.part = t.thing
    CROSS JOIN usual_step AS u
    WHERE abs(t.ratio - 1) >= 0.03 AND abs(t.slower_ns) >= 0.001 * coalesce(u.base_step_ns, 0)
    UNION ALL BY NAME
    SELECT
        'transfer' AS cause,
        t.thing AS name,
        t.base_calls,
        t.test_calls,
        'gpu' AS time_of,
        t.base_ns,
        t.test_ns,
        t.slower_ns AS diff_ns,
        t.ratio - 1 AS diff_ratio
    FROM slower_transfers AS t
    CROSS JOIN usual_step AS u
    WHERE abs(t.ratio - 1) >= 0.03 AND abs(t.slower_ns) >= 0.001 * coalesce(u.base_step_ns, 0)
    UNION ALL BY NAME
    SELECT
        'host_time' AS cause,
        n.name,
        t.base_calls,
        t.test_calls,
        'host' AS time_of,
        t.base_ns,
        t.test_ns,
        t.slower_ns AS diff_ns,
        t.ratio - 1 AS diff_ratio
    FROM slower_ops AS t
    JOIN names AS n ON n.name_hash = t.thing
    CROSS JOIN usual_step AS u
    WHERE abs(t.ratio - 1) >= 0.1 AND abs(t.slower_ns) >= 0.01 * u.base_step_ns
    UNION ALL BY NAME
    SELECT
        'data_loading' AS cause,
        t.thing AS name,
        t.base_calls,
        t.test_calls,
        'host' AS time_of,
        t.base_ns,
        t.test_ns,
        t.slower_ns AS diff_ns,
        t.ratio - 1 AS diff_ratio
    FROM slower_fetches AS t
    CROSS JOIN usual_step AS u
    WHERE abs(t.ratio - 1) >= 0.1 AND abs(t.slower_ns) >= 0.01 * u.base_step_ns
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
