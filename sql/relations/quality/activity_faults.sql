-- The rows of trace_quality about GPU activities and their launches.
--
-- `activities`: rows of activity_facts
-- `hosts`: rows of host_facts
-- `lost`: rows of lost_launches
--
-- Returns the columns of trace_quality. The text of a fault ends with what to do.
--
-- reads: humane_count, humane_frac, humane_ns
CREATE OR REPLACE MACRO activity_faults(activities, hosts, lost) AS TABLE
WITH
facts AS (
    SELECT
        a.*,
        h.launch_count,
        h.host_count,
        h.steps AS host_steps,
        l.before_count + l.after_count AS cut_launch_count,
        l.before_count,
        l.after_count,
        l.between_count,
        a.unlinked_ns / greatest(a.gpu_ns, 1) AS unlinked_frac,
        a.overlap_ns / greatest(a.gpu_ns, 1) AS overlap_frac,
        a.touching_ns / greatest(a.gpu_ns, 1) AS touching_frac,
        a.graph_ns / greatest(a.gpu_ns, 1) AS graph_frac,
        a.outside_ns / greatest(a.gpu_ns, 1) AS outside_frac,
        -- The first and the last step, if they have no GPU activity and other steps do.
        list_filter(
            list_distinct([h.steps[1], h.steps[-1]]),
            lambda s: len(a.steps) > 0 AND len(h.steps) > 1 AND NOT list_contains(a.steps, s)
        ) AS empty_steps
    FROM query_table(activities) AS a
    JOIN query_table(hosts) AS h ON h.job = a.job AND h.rank = a.rank
    LEFT JOIN query_table(lost) AS l ON l.job = a.job AND l.rank = a.rank
)
SELECT
    job,
    rank,
    'unlinked_kernels' AS fault,
    CASE WHEN unlinked_frac >= 0.01 THEN 'warning' ELSE 'info' END AS severity,
    unlinked_count AS count,
    unlinked_frac AS share_frac,
    humane_count(unlinked_count, 'GPU activity has', 'GPU activities have') || ' no launch in the '
        || 'trace (' || humane_frac(unlinked_frac) || ' of GPU time), so delay, operator and step '
        || 'are not known. ' || CASE
            WHEN launch_count = 0
            THEN 'The trace has no launches at all: record the CPU as well as the GPU.'
            WHEN leading_count > 0
            THEN humane_count(leading_count, 'comes', 'come') || ' first on their stream: they '
                || 'were launched before the recording began. Record some warm-up steps first.'
            WHEN nameless_count > 0
            THEN humane_count(nameless_count, 'has', 'have') || ' no correlation id: the profiler '
                || 'did not record which call launched them.'
            ELSE 'Their launches are lost: record fewer steps at a time.'
        END AS text,
    [
        'findings', 'idle_gaps', 'idle_reasons', 'idle_time_breakdown', 'kernel_sequences',
        'launch_stats', 'launch_summary', 'module_stats', 'op_flops', 'op_launch_delay',
        'op_stats', 'queue_length_summary', 'step_breakdown', 'step_mfu'
    ] AS weakens
FROM facts
WHERE unlinked_count > 0
UNION ALL
SELECT
    job,
    rank,
    'launches_without_kernel' AS fault,
    CASE WHEN cut_launch_count >= 0.01 * launch_count THEN 'warning' ELSE 'info' END AS severity,
    cut_launch_count AS count,
    cut_launch_count / launch_count AS share_frac,
    humane_count(cut_launch_count, 'launch has', 'launches have') || ' no GPU activity: '
        || before_count || ' before the first launch that has one, ' || after_count
        || ' after the last. The window cuts off their kernels. Record more warm-up before the '
        || 'first step, and synchronise before the recording stops.' AS text,
    ['idle_gaps', 'idle_reasons', 'launch_summary', 'queue_length_summary', 'step_breakdown']
        AS weakens
FROM facts
WHERE cut_launch_count > 0
UNION ALL
SELECT
    job,
    rank,
    'dropped_buffers' AS fault,
    CASE WHEN between_count >= 0.01 * launch_count THEN 'warning' ELSE 'info' END AS severity,
    between_count AS count,
    between_count / launch_count AS share_frac,
    humane_count(between_count, 'launch', 'launches') || ' in the middle of the recording ('
        || humane_frac(between_count / launch_count) || ' of all) '
        || CASE WHEN between_count = 1 THEN 'has' ELSE 'have' END
        || ' no GPU activity: the profiler lost records, so the GPU looks idle while it '
        || 'worked. Record fewer steps at a time.' AS text,
    [
        'findings', 'idle_gaps', 'idle_reasons', 'idle_time_breakdown', 'kernel_stats',
        'op_stats', 'step_breakdown', 'temporal_breakdown'
    ] AS weakens
FROM facts
WHERE between_count > 0
UNION ALL
SELECT
    job,
    rank,
    'overlap_on_stream' AS fault,
    CASE WHEN overlap_frac >= 0.01 THEN 'warning' ELSE 'info' END AS severity,
    overlap_count + parallel_count AS count,
    overlap_frac AS share_frac,
    CASE
        WHEN overlap_count > 0
        THEN humane_count(overlap_count, 'GPU activity begins', 'GPU activities begin')
            || ' before the one before on the same stream has ended, together by '
            || humane_ns(overlap_ns) || ' (' || humane_frac(overlap_frac) || ' of GPU time). A '
            || 'stream runs one at a time, so these durations are too long: do not add them up, '
            || 'and use the busy times of temporal_breakdown instead.'
        ELSE ''
    END
        || CASE WHEN overlap_count > 0 AND parallel_count > 0 THEN ' ' ELSE '' END
        || CASE
            WHEN parallel_count > 0
            THEN humane_count(parallel_count, 'GPU activity', 'GPU activities') || ' of graphs or '
                || 'of launches that may begin early (…LaunchKernelEx…) overlap'
                || CASE WHEN parallel_count = 1 THEN 's' ELSE '' END
                || ' the one before on the same stream, as they may: their durations add up to '
                || 'more than the time that passed.'
            ELSE ''
        END AS text,
    ['findings', 'job_kernels', 'kernel_stats', 'op_stats'] AS weakens
FROM facts
WHERE overlap_count + parallel_count > 0
UNION ALL
SELECT
    job,
    rank,
    'no_gap_on_stream' AS fault,
    CASE WHEN touching_ns < 50_000 * touching_count THEN 'warning' ELSE 'info' END AS severity,
    touching_count AS count,
    touching_frac AS share_frac,
    humane_count(touching_count, 'GPU activity ends', 'GPU activities end') || ' exactly where the '
        || 'next on the same stream begins (' || humane_frac(touching_count / activity_count)
        || ' of all, on average ' || humane_ns(touching_ns / touching_count) || ' long). This '
        || 'profiler counts the time between two kernels as time of the first, so short kernels '
        || 'look up to 2 µs longer and the GPU looks busier than it is. Compare short kernels only '
        || 'within this trace.' AS text,
    [
        'gpu_efficiency', 'idle_gaps', 'idle_reasons', 'idle_time_breakdown', 'kernel_stats',
        'op_flops', 'temporal_breakdown'
    ] AS weakens
FROM facts
-- Ends that meet the next start by chance are rarer.
WHERE touching_count >= 0.2 * activity_count AND touching_count >= 10
UNION ALL
SELECT
    job,
    rank,
    'impossible_times' AS fault,
    'warning' AS severity,
    impossible_count AS count,
    impossible_count / activity_count AS share_frac,
    humane_count(impossible_count, 'GPU activity has', 'GPU activities have') || ' a time that '
        || 'cannot be: ' || early_count || ' begin before their launch, ' || negative_count
        || ' end before they begin, ' || far_count || ' are an hour or more from everything on '
        || 'the host. The clocks of host and GPU differ, or the profiler wrote wrong times: do '
        || 'not trust delays and idle times.' AS text,
    [
        'idle_gaps', 'idle_reasons', 'idle_time_breakdown', 'launch_stats', 'launch_summary',
        'op_launch_delay', 'queue_length_summary', 'temporal_breakdown'
    ] AS weakens
FROM facts
WHERE impossible_count > 0
UNION ALL
SELECT
    job,
    rank,
    'impossible_numbers' AS fault,
    'warning' AS severity,
    absurd_count AS count,
    absurd_count / activity_count AS share_frac,
    humane_count(absurd_count, 'GPU activity has', 'GPU activities have') || ' a size or a number '
        || 'of ranks that cannot be: below zero, or above all memory there is. Results leave these '
        || 'numbers out. The file may be damaged: record again.' AS text,
    [
        'all_to_all_matrix', 'collective_bandwidth', 'collectives', 'findings', 'job_kernels',
        'memory_bandwidth_summary', 'process_groups', 'rank_collectives'
    ] AS weakens
FROM facts
WHERE absurd_count > 0
UNION ALL
SELECT
    job,
    rank,
    'cut_window' AS fault,
    'warning' AS severity,
    len(empty_steps) AS count,
    len(empty_steps) / len(host_steps) AS share_frac,
    'Step ' || array_to_string(empty_steps, ' and step ') || ' at the edge of the recording '
        || CASE WHEN len(empty_steps) = 1 THEN 'has' ELSE 'have' END || ' no GPU activity, though '
        || 'other steps do: the recording began or stopped there. Leave '
        || CASE WHEN len(empty_steps) = 1 THEN 'it' ELSE 'them' END || ' out with only_steps.'
        AS text,
    ['job_summary', 'profiler_steps', 'rank_imbalance', 'step_diff', 'step_mfu'] AS weakens
FROM facts
WHERE len(empty_steps) > 0
UNION ALL
SELECT
    job,
    rank,
    'work_outside_steps' AS fault,
    'info' AS severity,
    outside_count AS count,
    outside_frac AS share_frac,
    humane_count(outside_count, 'GPU activity was', 'GPU activities were') || ' launched outside '
        || 'of all steps (' || humane_frac(outside_frac) || ' of GPU time), and queries by step '
        || 'leave ' || CASE WHEN outside_count = 1 THEN 'it' ELSE 'them' END || ' out. If this '
        || 'work belongs to a step, call the profiler''s step() after it.' AS text,
    ['profiler_steps', 'step_breakdown', 'step_diff', 'step_mfu'] AS weakens
FROM facts
WHERE outside_count > 0 AND len(host_steps) > 0
UNION ALL
SELECT
    job,
    rank,
    'graph_kernels' AS fault,
    CASE WHEN graph_frac >= 0.05 THEN 'warning' ELSE 'info' END AS severity,
    graph_count AS count,
    graph_frac AS share_frac,
    humane_count(graph_count, 'GPU activity comes', 'GPU activities come') || ' from graph '
        || 'launches (' || humane_frac(graph_frac) || ' of GPU time). The trace does not '
        || 'show their operators. To see operators, record a run without graphs.'
        AS text,
    ['job_kernels', 'kernel_sequences', 'module_stats', 'op_flops', 'op_stats', 'step_mfu']
        AS weakens
FROM facts
WHERE graph_count > 0;
