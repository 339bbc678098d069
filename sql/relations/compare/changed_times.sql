-- One row per cause and thing whose time per call differs between base and test beyond noise.
--
-- A thing is a kernel, a kind of collective or message, an operator or a DataLoader annotation.
-- `steps_of_sides` is the row of counted_steps. `calls` has one row per cause, thing, stratum and
-- sample, with
--
--     side       base or test
--     times      number of calls in the sample
--     total_ns   sum of the durations
--     square_ns  sum of the squared durations; NULL: not known
--
-- A sample is one step on one side, with all ranks of the side. A stratum holds calls of a thing
-- that can be compared with each other, for example calls on the same shape and rank. The macro
-- leaves out strata that only one side has. The macro computes these ratios:
--
--     ratio of a step     time of the thing's calls in the step, divided by the time that they
--                         would take at the base's mean duration in each stratum
--     ratio               trimmed mean over the test's steps / trimmed mean over the base's steps
--     relative            ratio / median ratio of all things of the cause
--     relative of a step  ratio of the step / median ratio of all things of the cause in the step
--
-- The macro returns a thing if it passes one of two tests. The first test has two conditions:
--   * |ratio - 1| exceeds the noise of steps.
--   * |ratio - 1| exceeds the noise of single calls. If square_ns is NULL, this condition does not
--     apply.
--
-- The second test is for causes whose things all become slower or faster together. It has three
-- conditions, and fails if square_ns is NULL:
--   * |ratio - 1| exceeds the noise of single calls.
--   * |relative - 1| exceeds the noise of single calls.
--   * |relative - 1| exceeds three standard errors of the steps' relatives. With one step on each
--     side, this condition does not apply.
--
-- The noise of single calls uses a value of Student's t that chance exceeds once in 100,000. The
-- value is high because many things are compared, and because few steps may be similar by chance.
--
-- Returns cause, thing and
--
--     ratio                   as above
--     base_calls, test_calls  calls per step and rank
--     base_ns, test_ns        time per step and rank
--     slower_ns               test_ns minus the time per step and rank that the test's calls would
--                             take at the base's mean durations
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
        -- For each side, the sum of squared deviations from the side's mean. The values are the
        -- calls' durations, divided by the base's mean in the stratum.
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
        -- Rounding may make call_squares a little less than 0. The CASE keeps NULL, which
        -- greatest(0, call_squares) would turn into 0.
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
        -- With one step on each side and fewer than 3 things, there are too few things for a
        -- median. relative is then equal to ratio.
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
-- With one step on each side, step_noise is NULL, and only the second test can pass.
WHERE (
    abs(c.ratio - 1) > c.step_noise
    AND abs(c.ratio - 1) > coalesce(c.call_noise, 0)
)
OR (
    abs(c.ratio - 1) > c.call_noise
    AND abs(c.ratio / nullif(c.usual_ratio, 0) - 1) > c.call_noise
    AND abs(c.ratio / nullif(c.usual_ratio, 0) - 1) > coalesce(c.beside_noise, 0)
);
