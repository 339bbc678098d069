-- The rows of trace_quality about what a rank's recording lacks.
--
-- `activities`: rows of activity_facts
-- `hosts`: rows of host_facts
-- `calls`: rows of unpaired_calls
--
-- Returns the columns of trace_quality. The text of a fault ends with what to do.
--
-- reads: humane_count, humane_frac, limit_of
CREATE OR REPLACE MACRO recording_gaps(activities, hosts, calls) AS TABLE
WITH
facts AS (
    SELECT
        h.*,
        coalesce(a.activity_count, 0) AS activity_count,
        a.communication_count,
        a.bare_count,
        a.bare_ns / greatest(a.communication_ns, 1) AS bare_frac,
        a.numberless_count,
        u.call_count AS collective_count,
        u.lone_count
    FROM query_table(hosts) AS h
    LEFT JOIN query_table(activities) AS a ON a.job = h.job AND a.rank = h.rank
    LEFT JOIN query_table(calls) AS u ON u.job = h.job AND u.rank = h.rank
)
SELECT
    job,
    rank,
    'no_gpu_activities' AS fault,
    CASE WHEN launch_count > 0 THEN 'warning' ELSE 'info' END AS severity,
    nullif(launch_count, 0) AS count,
    1.0 AS share_frac,
    'The trace has no GPU activities'
        || CASE
            WHEN launch_count > 0
            THEN ', but ' || humane_count(launch_count, 'launch', 'launches')
                || ': the profiler could not record the GPU. Look for another profiler on it, '
                || 'and for missing rights or libraries (CUPTI, roctracer).'
            ELSE '. If the program uses a GPU, record with ProfilerActivity.CUDA.'
        END AS text,
    [
        'findings', 'idle_time_breakdown', 'kernel_stats', 'launch_stats', 'op_stats',
        'temporal_breakdown'
    ] AS weakens
FROM facts
WHERE activity_count = 0 AND host_count > 0
UNION ALL
SELECT
    job,
    rank,
    'thinned_out' AS fault,
    'warning' AS severity,
    call_count AS count,
    call_count / (call_span + 1) AS share_frac,
    'The trace has 1 in ' || format('{:,}', call_span // call_count) || ' of the numbers that the '
        || 'runtime gave to its calls, so most calls were removed after the recording. What the '
        || 'host did while a GPU was idle is not known, and findings say nothing about idle time. '
        || 'Use the trace as it was recorded.' AS text,
    [
        'findings', 'idle_gaps', 'idle_reasons', 'idle_time_breakdown', 'launch_summary', 'op_stats'
    ] AS weakens
FROM facts
WHERE launch_count > 0 AND call_span > call_count * limit_of('all', 'most_call_gap')
UNION ALL
SELECT
    job,
    rank,
    'crossing_spans' AS fault,
    CASE WHEN cut_count >= 0.01 * host_count THEN 'warning' ELSE 'info' END AS severity,
    cut_count AS count,
    cut_count / host_count AS share_frac,
    humane_count(cut_count, 'span', 'spans') || ' of ' || format('{:,}', host_count)
        || ' on the host ' || CASE WHEN cut_count = 1 THEN 'ends' ELSE 'end' END
        || ' while a span that began inside is still open. There the call stack leaves the outer '
        || 'span early, so times inside and callers are uncertain. Look for annotations that are '
        || 'opened in one function and closed in another.' AS text,
    ['call_stack', 'folded_stacks', 'op_stats', 'thread_stats'] AS weakens
FROM facts
WHERE cut_count > 0
UNION ALL
SELECT
    job,
    rank,
    'missing_steps' AS fault,
    'info' AS severity,
    NULL AS count,
    NULL AS share_frac,
    'The trace has no annotations that mark steps, so there are no times per step. Call the '
        || 'profiler''s step() after each step of the program, or name other annotations with '
        || 'hta-sql refresh ARCHIVE --steps REGEX.' AS text,
    [
        'findings', 'profiler_steps', 'rank_imbalance', 'regressions', 'step_breakdown',
        'step_diff', 'step_mfu'
    ] AS weakens
FROM facts
WHERE len(steps) = 0 AND host_count > 0
UNION ALL
SELECT
    job,
    rank,
    'missing_shapes' AS fault,
    'info' AS severity,
    operator_count AS count,
    1.0 AS share_frac,
    'None of ' || humane_count(operator_count, 'operator call', 'operator calls') || ' has the '
        || 'shapes of its inputs, so FLOPs are not known. Record with record_shapes=True.' AS text,
    ['diff_causes', 'findings', 'job_kernels', 'op_flops', 'step_mfu'] AS weakens
FROM facts
WHERE operator_count > 0 AND NOT has_shapes
UNION ALL
SELECT
    job,
    rank,
    'missing_stacks' AS fault,
    'info' AS severity,
    NULL AS count,
    NULL AS share_frac,
    'The trace has no Python functions, so modules and callers in the program are not known. '
        || 'Record a few steps with with_stack=True; it slows the host.' AS text,
    ['call_stack', 'folded_stacks', 'module_diff', 'module_stats'] AS weakens
FROM facts
WHERE operator_count > 0 AND NOT has_stacks
UNION ALL
SELECT
    job,
    rank,
    'missing_sequence_numbers' AS fault,
    'info' AS severity,
    operator_count AS count,
    1.0 AS share_frac,
    'The trace has a backward pass, but no operator has a sequence number, so backward operators '
        || 'cannot be joined to their forward ones. Record with a newer PyTorch.' AS text,
    ['call_stack', 'module_diff', 'module_stats'] AS weakens
FROM facts
WHERE has_backward AND NOT has_sequence_numbers
UNION ALL
SELECT
    job,
    rank,
    'missing_collective_arguments' AS fault,
    'info' AS severity,
    bare_count AS count,
    bare_frac AS share_frac,
    humane_count(bare_count, 'communication kernel has', 'communication kernels have') || ' no '
        || 'arguments of a collective (' || humane_frac(bare_frac) || ' of communication time), '
        || 'such as name, size and process group, so ' || CASE
            WHEN bare_count = communication_count THEN 'nothing across ranks can be paired'
            ELSE 'queries of collectives leave them out'
        END || '. PyTorch writes them from version 2.2 on, for its own collectives.' AS text,
    [
        'collective_bandwidth', 'collectives', 'findings', 'lost_gpu_time', 'process_groups',
        'straggler_blame', 'stragglers'
    ] AS weakens
FROM facts
WHERE bare_count > 0
UNION ALL
SELECT
    job,
    rank,
    'missing_collective_numbers' AS fault,
    'info' AS severity,
    numberless_count AS count,
    numberless_count / communication_count AS share_frac,
    humane_count(numberless_count, 'collective has', 'collectives have') || ' no number (Seq or '
        || 'Comms Id), so ' || CASE WHEN numberless_count = 1 THEN 'it pairs' ELSE 'they pair' END
        || ' with those of other ranks by order. If a rank lost records, look at '
        || 'collective_audit. PyTorch from March 2026 on writes the numbers.' AS text,
    ['clock_offsets', 'collectives', 'straggler_blame', 'stragglers'] AS weakens
FROM facts
WHERE numberless_count > 0
UNION ALL
SELECT
    job,
    rank,
    'unpaired_collectives' AS fault,
    CASE WHEN lone_count >= 0.01 * collective_count THEN 'warning' ELSE 'info' END AS severity,
    lone_count AS count,
    lone_count / collective_count AS share_frac,
    humane_count(lone_count, 'collective is', 'collectives are') || ' not on all ranks of the '
        || 'archive that use the process group (' || humane_frac(lone_count / collective_count)
        || ' of the calls). The ranks were not recorded over the same time, or records are lost: '
        || 'collective_audit says which rank lacks what.' AS text,
    ['clock_offsets', 'collectives', 'lost_gpu_time', 'straggler_blame', 'stragglers'] AS weakens
FROM facts
WHERE lone_count > 0;
