-- Which things take more or less time a call.
--
-- `calls` has cause, thing, stratum, side, sample, times, total_ns and square_ns: the calls in a
-- step, the sum of their durations and of these squared (NULL: not known). Things of another cause
-- are others, and are not beside these. Calls are compared with those of their stratum, the same
-- thing on the same input and rank: each one's duration is divided by the mean of the base's there.
-- Strata that one side has not are left out.
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
--
-- reads: noise_t, standard_error, student_t_of_many, trimmed_mean
CREATE OR REPLACE MACRO changed_times(calls, steps_of_sides) AS TABLE
WITH
means AS (
    SELECT
        cause,
        thing,
        stratum,
        sum(total_ns) FILTER (side = 'base') / nullif(sum(times) FILTER (side = 'base'), 0)
            AS mean_ns
    FROM query_table(calls)
    GROUP BY cause, thing, stratum
    HAVING min(side) < max(side)
),
of_steps AS (
    SELECT
        c.cause,
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
    JOIN means AS m
        ON m.cause = c.cause AND m.thing = c.thing AND m.stratum = c.stratum
    GROUP BY c.cause, c.thing, c.side, c.sample
),
beside_others AS (
    SELECT *, ratio / nullif(median(ratio) OVER (PARTITION BY cause, sample), 0) AS beside
    FROM of_steps
),
sides AS (
    SELECT
        cause,
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
    GROUP BY cause, thing
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
            WHEN count(*) OVER of_cause < 3 AND step_noise IS NULL THEN 1
            ELSE median(ratio) OVER of_cause
        END AS usual_ratio
    FROM compared
    WINDOW of_cause AS (PARTITION BY cause)
)
SELECT
    c.cause,
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
