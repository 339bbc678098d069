-- What operators of the two sides of a comparison call and launch, step by step.

-- The operators of all steps in `sampled`, rows of compared_steps of `base_job` and `test_job`.
--
--     op_key      of its side, rank and event_id; the same for an activity's op_id: rank_number
--                 2^36 + event_id
--     parent_key  that of what it was called in: of the operator around it, else, in a backward
--                 pass, of the forward operator whose backward pass that is; NULL: outermost
--     is_inside   parent_key is of the operator around it, so that its time is in that one's
--     sample      number of the side and step: the ranks of a step count together
CREATE OR REPLACE MACRO compared_ops(numbered, base_job, test_job) AS TABLE
SELECT
    s.sample,
    (s.rank_number << 36) + o.event_id AS op_key,
    (s.rank_number << 36)
        + coalesce(o.op_id, CASE WHEN o.is_backward THEN o.forward_id END) AS parent_key,
    o.op_id IS NOT NULL AS is_inside,
    o.name,
    o.input_dims,
    hash(o.name) AS name_hash,
    hash(o.input_dims) AS dims_hash,
    o.dur_ns
FROM host_ops AS o
JOIN query_table(numbered) AS s
    ON s.job = o.job AND s.rank = o.rank AND s.step_key = coalesce(o.step, -1)
WHERE is_operator(o.cat) AND is_compared(o.job, base_job, test_job);

-- The steps in `sampled`, with numbers: of the side and step, of the side and rank, and the place
-- of the rank in its side.
CREATE OR REPLACE MACRO numbered_steps(sampled) AS TABLE
SELECT
    side,
    job,
    rank,
    coalesce(step, -1) AS step_key,
    step_ns,
    dense_rank() OVER (ORDER BY side, coalesce(step, -1)) AS sample,
    dense_rank() OVER (ORDER BY side, job, rank) AS rank_number,
    dense_rank() OVER (PARTITION BY side ORDER BY job, rank) AS rank_place
FROM query_table(sampled);

-- Which things are there more or less often for each of what they are part of.
--
-- `parts` has whole, part, sample and times: how often the part was there in a step. `wholes` has
-- whole, side, sample and times. A part is compared in those wholes that both sides have, by how
-- often it is there for each one; where that is the same in all steps of a side, any difference is
-- beyond noise, and one step is enough. Gives the parts of which the rate differs.
CREATE OR REPLACE MACRO changed_rates(parts, wholes) AS TABLE
WITH
common AS (
    SELECT whole
    FROM query_table(wholes)
    GROUP BY whole
    HAVING count(DISTINCT side) = 2
),
kinds AS (
    SELECT DISTINCT p.whole, p.part
    FROM query_table(parts) AS p
    JOIN common ON common.whole = p.whole
),
rates AS (
    SELECT k.whole, k.part, w.side, coalesce(p.times, 0) / w.times AS rate
    FROM kinds AS k
    JOIN query_table(wholes) AS w ON w.whole = k.whole
    LEFT JOIN query_table(parts) AS p
        ON p.whole = k.whole AND p.part = k.part AND p.sample = w.sample
),
sides AS (
    SELECT
        whole,
        part,
        list(rate ORDER BY rate) FILTER (side = 'base') AS base_sorted,
        list(rate ORDER BY rate) FILTER (side = 'test') AS test_sorted
    FROM rates
    GROUP BY whole, part
),
compared AS (
    SELECT
        whole,
        part,
        trimmed_mean(base_sorted) AS base_rate,
        trimmed_mean(test_sorted) AS test_rate,
        coalesce(
            noise_t(base_sorted, test_sorted) * standard_error(base_sorted, test_sorted), 0
        ) AS noise
    FROM sides
)
SELECT whole, part, base_rate, test_rate
FROM compared
-- Means of equal rates may differ in the last bit.
WHERE abs(test_rate - base_rate) > noise + 1e-9;

-- Which things take more or less time a call.
--
-- `calls` has thing, stratum, side, sample, times, total_ns and square_ns: the calls in a step, the
-- sum of their durations and of these squared (NULL: not known). Calls are compared with those of
-- their stratum, the same thing on the same input and rank: each one's duration is divided by the
-- mean of the base's there. Strata that one side has not are left out.
--
-- A difference has to be beyond the noise of the single calls, by a t that chance exceeds once in
-- 100,000, as many things are looked at and few steps may be alike by chance. It also has to be
-- beyond the noise of steps; or, where all things go up and down together, beside what most of them
-- do, by three standard errors of the steps of what it is beside them. Of calls whose squares are
-- not known the noise of steps alone decides.
--
--     ratio                   how many times as long a call takes
--     base_calls, test_calls  in a step
--     base_ns, test_ns        their time in a step
--     slower_ns               of test_ns, what it is more than by the base's means
CREATE OR REPLACE MACRO changed_times(calls, steps_of_sides) AS TABLE
WITH
means AS (
    SELECT
        thing,
        stratum,
        sum(total_ns) FILTER (side = 'base') / nullif(sum(times) FILTER (side = 'base'), 0)
            AS mean_ns
    FROM query_table(calls)
    GROUP BY thing, stratum
    HAVING count(DISTINCT side) = 2
),
of_steps AS (
    SELECT
        c.thing,
        c.side,
        c.sample,
        sum(c.times) AS times,
        sum(c.total_ns) AS total_ns,
        sum(c.total_ns) / nullif(sum(c.times * m.mean_ns), 0) AS ratio,
        sum(c.times * m.mean_ns) AS usual_ns,
        sum(c.square_ns / nullif(m.mean_ns * m.mean_ns, 0)) AS squares,
        sum(c.total_ns / nullif(m.mean_ns, 0)) AS ratios
    FROM query_table(calls) AS c
    JOIN means AS m ON m.thing = c.thing AND m.stratum = c.stratum
    GROUP BY c.thing, c.side, c.sample
),
beside_others AS (
    SELECT *, ratio / nullif(median(ratio) OVER (PARTITION BY sample), 0) AS beside
    FROM of_steps
),
sides AS (
    SELECT
        thing,
        list(ratio ORDER BY ratio) FILTER (side = 'base') AS base_sorted,
        list(ratio ORDER BY ratio) FILTER (side = 'test') AS test_sorted,
        list(beside ORDER BY beside) FILTER (side = 'base') AS base_beside,
        list(beside ORDER BY beside) FILTER (side = 'test') AS test_beside,
        sum(times) FILTER (side = 'base') AS base_times,
        sum(times) FILTER (side = 'test') AS test_times,
        sum(total_ns) FILTER (side = 'base') AS base_total_ns,
        sum(total_ns) FILTER (side = 'test') AS test_total_ns,
        sum(usual_ns) FILTER (side = 'test') AS test_usual_ns,
        -- About the mean of each side.
        sum(squares) FILTER (side = 'base')
        - power(sum(ratios) FILTER (side = 'base'), 2) / nullif(base_times, 0)
        + sum(squares) FILTER (side = 'test')
        - power(sum(ratios) FILTER (side = 'test'), 2) / nullif(test_times, 0) AS call_squares
    FROM beside_others
    GROUP BY thing
),
compared AS (
    SELECT
        *,
        trimmed_mean(test_sorted) / nullif(trimmed_mean(base_sorted), 0) AS ratio,
        -- Rounding may leave a little less than 0; greatest would take NULL for it.
        student_t_of_many((base_times + test_times)::BIGINT - 2) * sqrt(
            CASE WHEN call_squares < 0 THEN 0 ELSE call_squares END
            / nullif(base_times + test_times - 2, 0)
            * (1 / nullif(base_times, 0) + 1 / nullif(test_times, 0))
        ) AS call_noise,
        noise_t(base_sorted, test_sorted) * standard_error(base_sorted, test_sorted) AS step_noise,
        3 * standard_error(base_beside, test_beside) AS beside_noise
    FROM sides
),
placed AS (
    SELECT
        *,
        -- Of one or two things in one step each, there is nothing else to go by.
        CASE
            WHEN count(*) OVER () < 3 AND step_noise IS NULL THEN 1
            ELSE median(ratio) OVER ()
        END AS usual_ratio
    FROM compared
)
SELECT
    c.thing,
    round(c.ratio, 9) AS ratio,
    c.base_times / s.base_steps_count AS base_calls,
    c.test_times / s.test_steps_count AS test_calls,
    c.base_total_ns / s.base_steps_count AS base_ns,
    c.test_total_ns / s.test_steps_count AS test_ns,
    (c.test_total_ns - c.test_usual_ns) / s.test_steps_count AS slower_ns
FROM placed AS c
CROSS JOIN query_table(steps_of_sides) AS s
-- Of one step and one, no noise of steps is known.
WHERE (
    abs(c.ratio - 1) > c.step_noise
    AND abs(c.ratio - 1) > coalesce(c.call_noise, 0)
)
OR (
    abs(c.ratio - 1) > c.call_noise
    AND abs(c.ratio / nullif(c.usual_ratio, 0) - 1) > c.call_noise
    AND abs(c.ratio / nullif(c.usual_ratio, 0) - 1) > coalesce(c.beside_noise, 0)
);
