-- One row per GPU activity: the place in the model to which the activity belongs. A place is a path
-- of nn.Module names.
--
-- `chosen`, `only_jobs` and `only_ranks`: as in module_calls.
-- `paths`: rows of numbered_modules.
-- `numbered_calls`: rank_number, event_id and path_number of each call.
--
-- Returns path_number, is_backward, is_alone, start_ns, end_ns and dur_ns. path_number is
-- the number of the first of these places that exists:
--
--   * the place of the innermost module around the launch
--   * if the launch is in a backward pass: the place of the innermost module around its forward
--     operator
--   * the rank's row in `paths` that has a NULL path, for activities without a module
--
-- is_alone is true if the activity overlaps no other activity of the rank.
--
-- reads: gpu_activities, host_calls
CREATE OR REPLACE MACRO module_activities(
    chosen, paths, numbered_calls, only_jobs, only_ranks
) AS TABLE
WITH
ranks AS (
    SELECT c.job, c.rank, c.step_numbers, p.rank_number, p.path_number AS rest_number
    FROM query_table(paths) AS p
    JOIN query_table(chosen) AS c ON c.rank_number = p.rank_number
    WHERE p.path IS NULL
),
-- The launches in a module or in a backward pass.
launches AS (
    SELECT o.job, o.rank, o.event_id, o.module_id, o.is_backward, o.forward_id
    FROM host_calls AS o
    WHERE (o.module_id IS NOT NULL OR o.is_backward)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
launched AS MATERIALIZED (
    SELECT
        ranks.job,
        ranks.rank,
        ranks.rank_number,
        ranks.rest_number,
        coalesce(launches.is_backward, false) AS is_backward,
        launches.module_id,
        launches.forward_id,
        a.start_ns,
        a.end_ns,
        a.dur_ns
    FROM gpu_activities AS a
    JOIN ranks ON ranks.job = a.job AND ranks.rank = a.rank
    LEFT JOIN launches
        ON launches.job = a.job
        AND launches.rank = a.rank
        AND launches.event_id = coalesce(a.recorded_id, a.launch_id)
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (ranks.step_numbers IS NULL OR list_contains(ranks.step_numbers, a.step))
),
-- The forward operators of these launches, in a module. There are far more other operations.
forward_ops AS (
    SELECT o.job, o.rank, o.event_id, o.module_id
    FROM host_calls AS o
    JOIN (
        SELECT DISTINCT job, rank, forward_id FROM launched WHERE forward_id IS NOT NULL
    ) AS l
        ON l.job = o.job AND l.rank = o.rank AND l.forward_id = o.event_id
    WHERE o.module_id IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
activities AS (
    SELECT
        l.rank_number,
        l.rest_number,
        l.is_backward,
        coalesce(l.module_id, f.module_id) AS module_id,
        l.start_ns,
        l.end_ns,
        l.dur_ns
    FROM launched AS l
    LEFT JOIN forward_ops AS f
        ON f.job = l.job AND f.rank = l.rank AND f.event_id = l.forward_id
),
neighbours AS (
    SELECT
        coalesce(n.path_number, a.rest_number) AS path_number,
        a.is_backward,
        a.start_ns,
        a.end_ns,
        a.dur_ns,
        max(a.end_ns) OVER (
            PARTITION BY a.rest_number
            ORDER BY a.start_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS until_ns,
        lead(a.start_ns) OVER (PARTITION BY a.rest_number ORDER BY a.start_ns) AS next_start_ns
    FROM activities AS a
    LEFT JOIN query_table(numbered_calls) AS n
        ON n.rank_number = a.rank_number AND n.event_id = a.module_id
)
SELECT
    path_number,
    is_backward,
    coalesce(until_ns <= start_ns, true) AND coalesce(next_start_ns >= end_ns, true) AS is_alone,
    start_ns,
    end_ns,
    dur_ns
FROM neighbours;
