-- What each nn.Module of the model took on host and GPU: the columns of module_stats, which says
-- what they mean, and path_number, by which they are in order.
CREATE OR REPLACE MACRO module_totals(only_jobs, only_ranks, only_steps) AS TABLE
WITH RECURSIVE
-- Of all steps, since a place in the model may depend on a call of another one. By `place`, what is
-- around a call comes before it.
calls AS MATERIALIZED (
    SELECT
        row_number() OVER (
            ORDER BY o.job, o.rank, o.start_ns, o.end_ns DESC, o.event_id
        ) AS place,
        o.job,
        o.rank,
        o.event_id,
        o.module_id,
        substring(o.name, length('nn.Module: ') + 1) AS name,
        coalesce(o.is_backward, false) AS is_backward,
        o.start_ns,
        o.end_ns,
        o.dur_ns,
        only_steps IS NULL OR list_contains(only_steps, o.step) AS is_picked
    FROM host_ops AS o
    WHERE o.cat = 'python_function'
      AND prefix(o.name, 'nn.Module: ')
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
-- Of a call in a backward pass, what was around the last one before that was not; -1 for none, for
-- arg_max passes over NULL.
around_calls AS (
    SELECT
        place,
        job,
        rank,
        event_id,
        name,
        CASE
            WHEN module_id IS NULL AND is_backward
            THEN nullif(
                arg_max(coalesce(module_id, -1), place) FILTER (NOT is_backward) OVER (
                    PARTITION BY job, rank, name ORDER BY place ROWS UNBOUNDED PRECEDING
                ),
                -1
            )
            ELSE module_id
        END AS around_id
    FROM calls
),
call_paths AS (
    SELECT
        place,
        job,
        rank,
        event_id,
        name,
        0 AS depth,
        NULL::VARCHAR AS around_path,
        name AS path
    FROM around_calls
    WHERE around_id IS NULL
    UNION ALL
    SELECT
        c.place,
        c.job,
        c.rank,
        c.event_id,
        c.name,
        around.depth + 1 AS depth,
        around.path AS around_path,
        concat(around.path, '/', c.name) AS path
    FROM call_paths AS around
    JOIN around_calls AS c
        ON c.job = around.job AND c.rank = around.rank AND c.around_id = around.event_id
),
-- Numbered by first call, with one more of each rank, the last, for what belongs to no module.
numbered_paths AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY job, rank, first_place) AS path_number, *
    FROM (
        SELECT
            job,
            rank,
            path,
            min(place) AS first_place,
            min(name) AS name,
            min(depth) AS depth,
            min(around_path) AS around_path
        FROM call_paths
        GROUP BY job, rank, path
        UNION ALL BY NAME
        SELECT DISTINCT job, rank
        FROM calls
    )
),
paths AS MATERIALIZED (
    SELECT
        p.path_number,
        around.path_number AS around_number,
        p.job,
        p.rank,
        p.path,
        p.name,
        p.depth
    FROM numbered_paths AS p
    LEFT JOIN numbered_paths AS around
        ON around.job = p.job AND around.rank = p.rank AND around.path = p.around_path
),
ranks AS (
    SELECT job, rank, path_number AS rest_number
    FROM paths
    WHERE path IS NULL
),
numbered_calls AS MATERIALIZED (
    SELECT
        paths.path_number,
        call_paths.place,
        call_paths.job,
        call_paths.rank,
        call_paths.event_id
    FROM call_paths
    JOIN paths
        ON paths.job = call_paths.job
        AND paths.rank = call_paths.rank
        AND paths.path = call_paths.path
),
-- Each path with itself and all that are around it.
around_paths AS (
    SELECT
        path_number AS inner_number,
        path_number AS outer_number,
        around_number,
        true AS is_itself
    FROM paths
    UNION ALL
    SELECT
        inner_one.inner_number,
        outer_one.path_number AS outer_number,
        outer_one.around_number,
        false AS is_itself
    FROM around_paths AS inner_one
    JOIN paths AS outer_one ON outer_one.path_number = inner_one.around_number
),
-- A union, should two of them cross.
inside_calls AS (
    SELECT outer_one.place AS group_id, inner_one.start_ns, inner_one.end_ns
    FROM calls AS inner_one
    JOIN calls AS outer_one
        ON outer_one.job = inner_one.job
        AND outer_one.rank = inner_one.rank
        AND outer_one.event_id = inner_one.module_id
),
host AS (
    SELECT
        numbered_calls.path_number,
        count(*) AS call_count,
        sum(calls.dur_ns) AS total_ns,
        sum(calls.dur_ns - coalesce(inside.covered_ns, 0)) AS self_ns,
        min(calls.event_id) AS example_event_id
    FROM calls
    JOIN numbered_calls ON numbered_calls.place = calls.place
    LEFT JOIN covered_times(inside_calls) AS inside ON inside.group_id = calls.place
    WHERE calls.is_picked
    GROUP BY numbered_calls.path_number
),
-- Launches that are in a module or a backward pass, and where the forward operators are.
launches AS (
    SELECT o.job, o.rank, o.event_id, o.module_id, o.is_backward, o.forward_id
    FROM host_ops AS o
    WHERE (o.module_id IS NOT NULL OR o.is_backward)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
forward_ops AS (
    SELECT o.job, o.rank, o.event_id, o.module_id
    FROM host_ops AS o
    WHERE o.module_id IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
activities AS (
    SELECT
        a.job,
        a.rank,
        ranks.rest_number,
        coalesce(launches.is_backward, false) AS is_backward,
        coalesce(launches.module_id, forward_ops.module_id) AS module_id,
        a.start_ns,
        a.end_ns,
        a.dur_ns
    FROM gpu_activities AS a
    JOIN ranks ON ranks.job = a.job AND ranks.rank = a.rank
    LEFT JOIN launches
        ON launches.job = a.job
        AND launches.rank = a.rank
        AND launches.event_id = a.launch_id
    LEFT JOIN forward_ops
        ON forward_ops.job = launches.job
        AND forward_ops.rank = launches.rank
        AND forward_ops.event_id = launches.forward_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
),
owned AS (
    SELECT
        coalesce(numbered_calls.path_number, a.rest_number) AS path_number,
        a.rest_number,
        a.is_backward,
        a.start_ns,
        a.end_ns,
        a.dur_ns
    FROM activities AS a
    LEFT JOIN numbered_calls
        ON numbered_calls.job = a.job
        AND numbered_calls.rank = a.rank
        AND numbered_calls.event_id = a.module_id
),
-- Most activities overlap no other one, so that their times just add up.
neighbours AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY rest_number
            ORDER BY start_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS until_ns,
        lead(start_ns) OVER (PARTITION BY rest_number ORDER BY start_ns) AS next_start_ns
    FROM owned
),
measured AS MATERIALIZED (
    SELECT
        path_number,
        is_backward,
        coalesce(until_ns <= start_ns, true) AND coalesce(next_start_ns >= end_ns, true)
            AS is_alone,
        start_ns,
        end_ns,
        dur_ns
    FROM neighbours
),
-- Of a module alone; then of all that are around it.
own AS (
    SELECT
        path_number,
        is_backward,
        count(*) AS kernel_count,
        sum(dur_ns) AS kernel_ns,
        coalesce(sum(dur_ns) FILTER (is_alone), 0) AS alone_ns
    FROM measured
    GROUP BY path_number, is_backward
),
kernels AS (
    SELECT
        around_paths.outer_number AS path_number,
        own.is_backward,
        sum(own.kernel_count) AS kernel_count,
        sum(own.kernel_ns) AS kernel_ns,
        sum(own.alone_ns) AS alone_ns,
        sum(own.kernel_count) FILTER (is_itself) AS self_kernel_count,
        sum(own.kernel_ns) FILTER (is_itself) AS self_kernel_ns
    FROM own
    JOIN around_paths ON around_paths.inner_number = own.path_number
    GROUP BY around_paths.outer_number, own.is_backward
),
overlapping AS (
    SELECT
        2 * around_paths.outer_number + m.is_backward::BIGINT AS group_id,
        m.start_ns,
        m.end_ns
    FROM measured AS m
    JOIN around_paths ON around_paths.inner_number = m.path_number
    WHERE NOT m.is_alone
),
by_pass AS (
    SELECT
        kernels.*,
        kernels.alone_ns + coalesce(together.covered_ns, 0) AS busy_ns
    FROM kernels
    LEFT JOIN covered_times(overlapping) AS together
        ON together.group_id = 2 * kernels.path_number + kernels.is_backward::BIGINT
)
SELECT
    paths.path_number,
    paths.job,
    paths.rank,
    paths.path AS module,
    paths.name,
    paths.depth,
    coalesce(host.call_count, 0) AS count,
    coalesce(host.total_ns, 0)::BIGINT AS host_total_ns,
    coalesce(host.self_ns, 0)::BIGINT AS host_self_ns,
    coalesce(forward.kernel_count, 0)::BIGINT AS forward_kernel_count,
    coalesce(forward.kernel_ns, 0)::BIGINT AS forward_kernel_ns,
    coalesce(forward.busy_ns, 0)::BIGINT AS forward_busy_ns,
    coalesce(forward.self_kernel_count, 0)::BIGINT AS forward_self_kernel_count,
    coalesce(forward.self_kernel_ns, 0)::BIGINT AS forward_self_kernel_ns,
    coalesce(backward.kernel_count, 0)::BIGINT AS backward_kernel_count,
    coalesce(backward.kernel_ns, 0)::BIGINT AS backward_kernel_ns,
    coalesce(backward.busy_ns, 0)::BIGINT AS backward_busy_ns,
    coalesce(backward.self_kernel_count, 0)::BIGINT AS backward_self_kernel_count,
    coalesce(backward.self_kernel_ns, 0)::BIGINT AS backward_self_kernel_ns,
    host.example_event_id
FROM paths
LEFT JOIN host ON host.path_number = paths.path_number
LEFT JOIN by_pass AS forward
    ON forward.path_number = paths.path_number AND NOT forward.is_backward
LEFT JOIN by_pass AS backward
    ON backward.path_number = paths.path_number AND backward.is_backward
WHERE coalesce(host.call_count, forward.kernel_count, backward.kernel_count) IS NOT NULL;
