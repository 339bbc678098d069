-- Changes beyond noise in the newest run of a program, compared with earlier runs, ranked.
--
-- The help of `baseline` explains which earlier runs count, how the value of a run is computed, and
-- what the expected interval is.
--
-- `change` is the first of these values that applies:
--   * added: no earlier run has the kernel.
--   * deleted: the newest run does not have the kernel, and low_ns is above 0.
--   * NULL: only one earlier run has a value, and the newest run's value differs from it. The noise
--     is not known.
--   * increased or decreased: the newest run's value is outside the expected interval and differs
--     from the mean by at least 1 %.
--   * unchanged: all other cases.
--
--     earlier runs        x  xx x  x
--     expected        [=============)         from low_ns to high_ns
--     newest run                         o    change: increased
--
-- step_time has no row if the newest run or all earlier runs have no steps. Without earlier runs,
-- the query returns no rows.
--
-- since: 0.1
-- grain: kind, name
-- needs: earlier_runs
-- returns:
--   kind        VARCHAR  -      step or kernel, as in baseline
--   name        VARCHAR  -      metric of the step, or name of the kernel
--   position    BIGINT   -      place in the list, from 1: first the rows that changed, then all
--                               others. Both parts are sorted by |diff_ns|, the largest first.
--   change      VARCHAR  -      added, deleted, increased, decreased or unchanged; NULL if the
--                               noise is not known
--   test_ns     BIGINT   ns     value of the newest run
--   mean_ns     BIGINT   ns     trimmed mean of the earlier runs' values
--   diff_ns     BIGINT   ns     test_ns - mean_ns
--   diff_ratio  DOUBLE   -      diff_ns / mean_ns: 0.03 is 3 % more
--   low_ns      BIGINT   ns     lower end of the expected interval; NULL if run_count is 1
--   high_ns     BIGINT   ns     upper end of the expected interval; NULL if low_ns is NULL
--   run_count   BIGINT   count  earlier runs that have a value: for step_time, the runs with steps
--   job         VARCHAR  -      name of the newest run
-- check: position > 0 AND run_count > 0
-- check: diff_ns = test_ns - mean_ns
-- check: 0 <= low_ns AND low_ns <= mean_ns AND mean_ns <= high_ns
-- check: change <> 'increased' OR test_ns > high_ns
-- check: change <> 'decreased' OR test_ns < low_ns
-- reads: comparable_runs, expected_high, expected_low, trimmed_mean, values_by_run,
--   values_of_runs
CREATE OR REPLACE MACRO regressions_v1(
    newest_job VARCHAR := NULL,  -- newest run [default: the job that began last]
    job_contains VARCHAR := NULL,  -- only jobs whose names contain this [default: all]
    run_limit INTEGER := 10,  -- maximum number of earlier runs; the latest ones count
    short_names BOOLEAN := true  -- kernel names without template arguments and parameters
) AS TABLE
WITH
runs AS MATERIALIZED (
    FROM comparable_runs(newest_job, job_contains, run_limit)
),
values_of AS MATERIALIZED (
    FROM values_of_runs(runs, short_names)
),
sorted AS (
    SELECT
        kind,
        name,
        list(coalesce(value_ns, 0) ORDER BY coalesce(value_ns, 0)) FILTER (NOT is_newest)
            AS of_runs,
        max(coalesce(value_ns, 0)) FILTER (is_newest) AS test_ns,
        count(value_ns) FILTER (NOT is_newest) AS had_count,
        count(value_ns) FILTER (is_newest) AS has_count
    FROM values_by_run(values_of, runs)
    GROUP BY kind, name
),
expected AS (
    SELECT
        kind,
        name,
        test_ns,
        len(of_runs) AS run_count,
        had_count,
        has_count,
        round(trimmed_mean(of_runs))::BIGINT AS mean_ns,
        round(expected_low(of_runs))::BIGINT AS low_ns,
        round(expected_high(of_runs))::BIGINT AS high_ns
    FROM sorted
    WHERE of_runs IS NOT NULL AND test_ns IS NOT NULL
),
judged AS (
    SELECT
        *,
        test_ns - mean_ns AS diff_ns,
        CASE
            WHEN had_count = 0 THEN 'added'
            WHEN has_count = 0 AND low_ns > 0 THEN 'deleted'
            WHEN low_ns IS NULL THEN CASE WHEN test_ns = mean_ns THEN 'unchanged' END
            WHEN abs(test_ns - mean_ns) < 0.01 * mean_ns THEN 'unchanged'
            WHEN test_ns > high_ns THEN 'increased'
            WHEN test_ns < low_ns THEN 'decreased'
            ELSE 'unchanged'
        END AS change
    FROM expected
)
SELECT
    kind,
    name,
    row_number() OVER (
        ORDER BY coalesce(change, 'unchanged') = 'unchanged', abs(diff_ns) DESC, kind DESC, name
    ) AS position,
    change,
    test_ns,
    mean_ns,
    diff_ns,
    diff_ns / nullif(mean_ns, 0) AS diff_ratio,
    low_ns,
    high_ns,
    run_count,
    (SELECT r.job FROM runs AS r WHERE r.is_newest) AS job
FROM judged
ORDER BY position;
