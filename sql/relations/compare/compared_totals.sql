-- Macros that compare the totals of two sides: the base and the test.
--
-- reads: compared_steps, counted_steps

-- The sum of dur_ns over the rows with is_counted; 0 if there are none.
--
-- `| 0` changes no value. It keeps DuckDB 2.0 from wrong sums over DuckDB tables. Where the
-- statistics of a table say that the right side of a LEFT JOIN is empty, DuckDB takes the whole
-- join for empty and every sum over it for 0. It then drops abs(), and sorts by one byte of each
-- sum. DuckDB assumes nothing about a value after `| 0`.
CREATE OR REPLACE MACRO total_of(dur_ns, is_counted) AS
(coalesce(sum(dur_ns) FILTER (is_counted), 0)::BIGINT | 0);

-- The number of calls and the times of both sides as a struct.
--
-- The macro is an aggregate over calls or activities. is_base, is_test and is_in_step say whether a
-- call belongs to the base, to the test, and to a step. For each side, the struct has these fields,
-- with the prefix base_ or test_:
--
--     count        number of calls
--     total_ns     time of all calls
--     in_steps_ns  time of the calls that began in steps
--     in_trace_ns  time of all calls. If the side has no steps, compared_totals divides in_trace_ns
--                  by the number of ranks
CREATE OR REPLACE MACRO totals_of_sides(dur_ns, is_base, is_test, is_in_step) AS
{
    'base_count': count(*) FILTER (is_base),
    'test_count': count(*) FILTER (is_test),
    'base_total_ns': total_of(dur_ns, is_base),
    'test_total_ns': total_of(dur_ns, is_test),
    'base_in_steps_ns': total_of(dur_ns, is_base AND is_in_step),
    'test_in_steps_ns': total_of(dur_ns, is_test AND is_in_step),
    'base_in_trace_ns': total_of(dur_ns, is_base),
    'test_in_trace_ns': total_of(dur_ns, is_test)
};

-- The kind of change of a count from base to test.
CREATE OR REPLACE MACRO change_of_count(base_times, test_times) AS
CASE
    WHEN base_times = test_times THEN 'unchanged'
    WHEN base_times = 0 THEN 'added'
    WHEN test_times = 0 THEN 'deleted'
    WHEN test_times > base_times THEN 'increased'
    ELSE 'decreased'
END;

-- One row per compared thing, for example per kernel: its totals on both sides and their
-- differences.
--
-- `totals` has one row per thing. The column `sides` of `totals` is a struct as in totals_of_sides.
-- Returns the columns of `totals` without `sides`, and columns computed from `sides`. The columns
-- with per_step are means over the steps of all ranks. For a side without steps, these columns
-- are means over the ranks.
CREATE OR REPLACE MACRO compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
) AS TABLE
WITH
sampled AS (
    FROM compared_steps(
        base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    )
),
per_step AS (
    SELECT
        t.* EXCLUDE (sides),
        t.sides.base_count AS base_count,
        t.sides.test_count AS test_count,
        t.sides.base_total_ns AS base_total_ns,
        t.sides.test_total_ns AS test_total_ns,
        round(
            CASE
                WHEN c.base_has_steps THEN t.sides.base_in_steps_ns
                ELSE t.sides.base_in_trace_ns
            END / nullif(c.base_steps_count, 0)
        )::BIGINT AS base_per_step_ns,
        round(
            CASE
                WHEN c.test_has_steps THEN t.sides.test_in_steps_ns
                ELSE t.sides.test_in_trace_ns
            END / nullif(c.test_steps_count, 0)
        )::BIGINT AS test_per_step_ns
    FROM query_table(totals) AS t
    CROSS JOIN counted_steps(sampled) AS c
)
SELECT
    *,
    test_count - base_count AS diff_count,
    test_total_ns - base_total_ns AS diff_total_ns,
    round(base_total_ns / nullif(base_count, 0))::BIGINT AS base_mean_ns,
    round(test_total_ns / nullif(test_count, 0))::BIGINT AS test_mean_ns,
    test_mean_ns - base_mean_ns AS diff_mean_ns,
    test_per_step_ns - base_per_step_ns AS diff_per_step_ns,
    abs(test_per_step_ns - base_per_step_ns)
        / nullif(sum(abs(test_per_step_ns - base_per_step_ns)) OVER (), 0) AS diff_frac,
    change_of_count(base_count, test_count) AS change
FROM per_step;
