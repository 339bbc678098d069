-- One row per place in the model (path_number) and is_backward: the GPU time of the module.
--
-- `paths`: rows of numbered_modules.
-- `activities`: rows of module_activities.
--
-- kernel_count and kernel_ns count the activities of the module and of all modules inside it.
-- busy_ns is the time in which at least one of these activities runs. self_kernel_count and
-- self_kernel_ns count only the module's own activities.
--
-- Most activities overlap no other activity, so the macro adds up their durations (alone_ns). Only
-- the other activities need covered_times.
--
-- reads: covered_times
CREATE OR REPLACE MACRO module_kernels(paths, activities) AS TABLE
WITH RECURSIVE
-- One row per path and per path at or around it.
around_paths AS (
    SELECT
        path_number AS inner_number,
        path_number AS outer_number,
        around_number,
        true AS is_itself
    FROM query_table(paths)
    UNION ALL
    SELECT
        inner_one.inner_number,
        outer_one.path_number AS outer_number,
        outer_one.around_number,
        false AS is_itself
    FROM around_paths AS inner_one
    JOIN query_table(paths) AS outer_one ON outer_one.path_number = inner_one.around_number
),
own AS (
    SELECT
        path_number,
        is_backward,
        count(*) AS kernel_count,
        sum(dur_ns) AS kernel_ns,
        coalesce(sum(dur_ns) FILTER (is_alone), 0) AS alone_ns
    FROM query_table(activities)
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
        2 * around_paths.outer_number + a.is_backward::BIGINT AS group_id,
        a.start_ns,
        a.end_ns
    FROM query_table(activities) AS a
    JOIN around_paths ON around_paths.inner_number = a.path_number
    WHERE NOT a.is_alone
)
SELECT
    kernels.*,
    kernels.alone_ns + coalesce(together.covered_ns, 0) AS busy_ns
FROM kernels
LEFT JOIN covered_times(overlapping) AS together
    ON together.group_id = 2 * kernels.path_number + kernels.is_backward::BIGINT;
