-- Which things take more or less time per call.
--
-- `calls` has cause, thing, stratum, side, sample, times, total_ns and square_ns: the number of
-- calls in a step, the sum of their durations and the sum of the squares (NULL: not known). Each
-- cause is compared separately. Calls are compared within their stratum: the same thing on the same
-- input and rank. Each duration is divided by the base's mean in the stratum. Strata that only one
-- side has are left out.
--
-- A difference has to exceed the noise of single calls, by a t that chance exceeds once in 100,000:
-- many things are compared, and few steps may be similar by chance. It also has to exceed the noise
-- of steps. Alternatively, for causes whose things all go up and down together, the difference from
-- the median ratio of the cause has to exceed the noise of single calls and three standard errors.
-- The standard errors are those of the steps' ratios, each divided by the step's median ratio. If
-- the squares are not known, only the noise of steps counts.
--
--     ratio                   duration per call in the test, divided by that in the base
--     base_calls, test_calls  calls per step
--     base_ns, test_ns        time per step
--     slower_ns               test_ns minus the time that the base's means would give
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
        -- Squares about the mean of each side.
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
        -- Rounding may leave a little less than 0. greatest would turn NULL into 0.
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
        -- With fewer than 3 things and one step on each side, there is nothing else to compare
        -- with.
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
-- With one step on each side, the noise of steps is not known.
WHERE (
    abs(c.ratio - 1) > c.step_noise
    AND abs(c.ratio - 1) > coalesce(c.call_noise, 0)
)
OR (
    abs(c.ratio - 1) > c.call_noise
    AND abs(c.ratio / nullif(c.usual_ratio, 0) - 1) > c.call_noise
    AND abs(c.ratio / nullif(c.usual_ratio, 0) - 1) > coalesce(c.beside_noise, 0)
);
