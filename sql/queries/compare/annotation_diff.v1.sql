-- Count and time of each annotated stage, compared between two jobs.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
-- A stage is all annotations of one name on the host, made by the program or its libraries: for
-- example forward, backward, an optimizer's step or loading of data. All steps are one stage,
-- whatever their numbers, such as ProfilerStep. The time of an annotation is its duration on its
-- own thread, including the annotations inside it.
--
-- A stage's kernels are all GPU activities launched in the stage, at any depth. These include the
-- activities that autograd threads launch while the main thread is in the stage:
--
--     main thread  [ ProfilerStep                     )
--                  [ forward )[ backward   )[ optimizer)
--     launches        1 2                      5
--     autograd                   3  4
--
--     stage         kernels
--     forward       1 2
--     backward      3 4
--     optimizer     5
--     ProfilerStep  1 2 3 4 5
--
-- If annotations of one name are nested, each annotation's duration counts, but each GPU activity
-- counts once.
--
-- Counts and totals cover everything that is selected. If the sides differ in size, compare the
-- columns with `per_step` in their names. They are means per step and rank: the time of the
-- annotations that begin in steps, divided by the number of steps. For example, 10 steps on each of
-- 4 ranks are 40 steps. For a side without steps, these columns are the total time divided by the
-- number of ranks. `change` compares only the counts.
--
-- HTA's TraceDiff.compare_traces lists each step under its own name, such as ProfilerStep#3.
--
-- since: 0.1
-- grain: name
-- needs: host_annotations
-- returns:
--   name                     VARCHAR  -      name of the annotation
--   base_count               BIGINT   count  how often the stage is entered in the base
--   test_count               BIGINT   count  how often the stage is entered in the test
--   diff_count               BIGINT   count  test_count - base_count
--   base_total_ns            BIGINT   ns     sum of the durations in the base
--   test_total_ns            BIGINT   ns     sum of the durations in the test
--   diff_total_ns            BIGINT   ns     test_total_ns - base_total_ns
--   base_mean_ns             BIGINT   ns     mean duration in the base; NULL if base_count is 0
--   test_mean_ns             BIGINT   ns     mean duration in the test; NULL if test_count is 0
--   diff_mean_ns             BIGINT   ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   base_kernel_count        BIGINT   count  GPU activities launched in the stage in the base
--   test_kernel_count        BIGINT   count  GPU activities launched in the stage in the test
--   diff_kernel_count        BIGINT   count  test_kernel_count - base_kernel_count
--   base_kernel_ns           BIGINT   ns     sum of the durations of these activities in the base
--   test_kernel_ns           BIGINT   ns     sum of the durations of these activities in the test
--   diff_kernel_ns           BIGINT   ns     test_kernel_ns - base_kernel_ns
--   base_per_step_ns         BIGINT   ns     time of annotations in steps of the base, per step and
--                                            rank
--   test_per_step_ns         BIGINT   ns     time of annotations in steps of the test, per step and
--                                            rank
--   diff_per_step_ns         BIGINT   ns     test_per_step_ns - base_per_step_ns
--   diff_frac                DOUBLE   0-1    |diff_per_step_ns| / sum of |diff_per_step_ns| over
--                                            all rows; NULL if the sum is 0
--   change                   VARCHAR  -      change of the count: added, deleted, increased,
--                                            decreased, unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: base_kernel_ns >= 0 AND test_kernel_ns >= 0
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_jobs, compared_totals, gpu_activities, host_ops, is_compared, is_of_side,
--   mark_label, may_be_compared, step_label, step_marks, totals_of_sides
CREATE OR REPLACE MACRO annotation_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL  -- steps of the test [default: the whole trace]
) AS TABLE
WITH RECURSIVE
jobs AS (
    FROM compared_jobs(base_job, test_job)
),
-- The outermost calls of autograd threads, each with the annotation that waited for the call.
waited_for AS MATERIALIZED (
    SELECT o.job, o.rank, o.event_id, o.caller_id
    FROM host_ops AS o
    CROSS JOIN jobs AS j
    WHERE o.caller_id IS NOT NULL AND is_compared(o.job, j.base, j.test, base_job, test_job)
),
-- Each annotation with its outer annotation: the one around it on the same thread, or the one that
-- waited for the call around it.
annotations AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.event_id,
        CASE
            WHEN m.event_id IS NULL THEN step_label(a.name) ELSE mark_label(a.name)
        END AS name,
        a.dur_ns,
        coalesce(a.annotation_id, w.caller_id) AS outer_id,
        a.step IS NOT NULL AS is_in_step,
        is_of_side(a.job, a.rank, a.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(a.job, a.rank, a.step, j.test, test_ranks, test_steps) AS is_test
    FROM host_ops AS a
    CROSS JOIN jobs AS j
    LEFT JOIN step_marks AS m
        ON m.job = a.job AND m.rank = a.rank AND m.event_id = a.event_id
    LEFT JOIN waited_for AS w
        ON w.job = a.job AND w.rank = a.rank AND w.event_id = a.root_id
    WHERE a.cat = 'user_annotation' AND is_compared(a.job, j.base, j.test, base_job, test_job)
),
-- Launches that are in no annotation of their own thread.
bare_launches AS MATERIALIZED (
    SELECT a.job, a.rank, a.launch_id, count(*) AS kernel_count, sum(a.dur_ns) AS kernel_ns
    FROM gpu_activities AS a
    CROSS JOIN jobs AS j
    WHERE is_compared(a.job, j.base, j.test, base_job, test_job)
      AND a.annotation_id IS NULL
      AND a.launch_id IS NOT NULL
    GROUP BY a.job, a.rank, a.launch_id
),
roots AS MATERIALIZED (
    SELECT b.job, b.rank, o.root_id, b.kernel_count, b.kernel_ns
    FROM bare_launches AS b
    JOIN host_ops AS o ON o.job = b.job AND o.rank = b.rank AND o.event_id = b.launch_id
    WHERE may_be_compared(o.job, base_job, test_job)
),
launched AS MATERIALIZED (
    SELECT a.job, a.rank, a.annotation_id, count(*) AS kernel_count, sum(a.dur_ns) AS kernel_ns
    FROM gpu_activities AS a
    CROSS JOIN jobs AS j
    WHERE is_compared(a.job, j.base, j.test, base_job, test_job) AND a.annotation_id IS NOT NULL
    GROUP BY a.job, a.rank, a.annotation_id
    UNION ALL
    SELECT
        r.job,
        r.rank,
        w.caller_id AS annotation_id,
        sum(r.kernel_count) AS kernel_count,
        sum(r.kernel_ns) AS kernel_ns
    FROM roots AS r
    JOIN waited_for AS w ON w.job = r.job AND w.rank = r.rank AND w.event_id = r.root_id
    GROUP BY r.job, r.rank, w.caller_id
),
-- Each annotation that launched something, with itself and all annotations around it.
around AS (
    SELECT a.job, a.rank, a.event_id, a.outer_id AS next_id, a.name, a.is_base, a.is_test
    FROM annotations AS a
    SEMI JOIN launched AS l
        ON l.job = a.job AND l.rank = a.rank AND l.annotation_id = a.event_id
    UNION ALL
    SELECT a.job, a.rank, a.event_id, o.outer_id AS next_id, o.name, o.is_base, o.is_test
    FROM around AS a
    JOIN annotations AS o
        ON o.job = a.job AND o.rank = a.rank AND o.event_id = a.next_id
),
-- One row per name, even if annotations of one name are nested.
names_around AS MATERIALIZED (
    SELECT job, rank, event_id, name, bool_or(is_base) AS is_base, bool_or(is_test) AS is_test
    FROM around
    GROUP BY job, rank, event_id, name
),
kernels AS (
    SELECT
        n.name,
        sum(l.kernel_count) FILTER (n.is_base) AS base_kernel_count,
        sum(l.kernel_count) FILTER (n.is_test) AS test_kernel_count,
        sum(l.kernel_ns) FILTER (n.is_base) AS base_kernel_ns,
        sum(l.kernel_ns) FILTER (n.is_test) AS test_kernel_ns
    FROM launched AS l
    JOIN names_around AS n
        ON n.job = l.job AND n.rank = l.rank AND n.event_id = l.annotation_id
    GROUP BY n.name
),
totals_of_host AS (
    SELECT
        name,
        totals_of_sides(dur_ns, is_base, is_test, is_in_step) AS sides
    FROM annotations
    WHERE is_base OR is_test
    GROUP BY name
),
totals AS (
    SELECT
        h.*,
        coalesce(k.base_kernel_count, 0)::BIGINT AS base_kernel_count,
        coalesce(k.test_kernel_count, 0)::BIGINT AS test_kernel_count,
        coalesce(k.base_kernel_ns, 0)::BIGINT AS base_kernel_ns,
        coalesce(k.test_kernel_ns, 0)::BIGINT AS test_kernel_ns
    FROM totals_of_host AS h
    LEFT JOIN kernels AS k ON k.name IS NOT DISTINCT FROM h.name
)
SELECT
    name,
    base_count,
    test_count,
    diff_count,
    base_total_ns,
    test_total_ns,
    diff_total_ns,
    base_mean_ns,
    test_mean_ns,
    diff_mean_ns,
    base_kernel_count,
    test_kernel_count,
    test_kernel_count - base_kernel_count AS diff_kernel_count,
    base_kernel_ns,
    test_kernel_ns,
    test_kernel_ns - base_kernel_ns AS diff_kernel_ns,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    diff_frac,
    change
FROM compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
)
ORDER BY abs(diff_per_step_ns) DESC, abs(diff_total_ns) DESC, name;
