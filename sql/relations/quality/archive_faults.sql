-- The rows of trace_quality about the trace's file and header, and about the job as a whole.
--
-- `jobs`, `ranks`: lists of values to select (NULL: all). Rows about a job stay for any ranks.
--
-- Returns the columns of trace_quality; rank is NULL in rows about a job. The text of a fault ends
-- with what to do.
--
-- reads: attachments, device_names, device_peaks, humane_count, humane_ns, traces
CREATE OR REPLACE MACRO archive_faults(jobs, ranks) AS TABLE
WITH
of_ranks AS (
    SELECT
        t.job,
        t.rank,
        max(CASE WHEN t.status <> 'complete' THEN t.status END) AS damage,
        count(*) FILTER (t.status <> 'complete') AS damaged_count,
        count(*) AS trace_count,
        sum(t.quarantined_count)::BIGINT AS quarantined_count,
        sum(t.event_count)::BIGINT AS event_count,
        coalesce(max(t.gpu_activity_count), 1) > 0 AS may_have_activities,
        max(t.world_size) AS world_size,
        max(t.backend) AS backend,
        max(t.host) AS host,
        min(t.rank_source) AS rank_source,
        min(t.start_ns) AS start_ns,
        max(t.end_ns) AS end_ns,
        coalesce(bool_or(t.time_format = 'relative, base unknown'), false) AS has_no_base,
        bool_or(t.start_ns = t.base_ns AND t.base_ns > 0) AS begins_at_base
    FROM traces AS t
    WHERE (jobs IS NULL OR list_contains(jobs, t.job))
    GROUP BY t.job, t.rank
),
of_jobs AS (
    SELECT
        job,
        count(*) AS rank_count,
        max(world_size) AS world_size,
        count(DISTINCT host) AS host_count,
        bool_or(has_no_base) AS has_no_base,
        max(start_ns) - min(end_ns) AS apart_ns
    FROM of_ranks
    GROUP BY job
),
attached AS (
    SELECT a.job, a.rank, sum(a.quarantined_count)::BIGINT AS quarantined_count
    FROM attachments AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
    GROUP BY a.job, a.rank
),
facts AS (
    SELECT
        of_ranks.*,
        coalesce(of_ranks.quarantined_count, 0) + coalesce(x.quarantined_count, 0) AS bad_count,
        d.device_name,
        d.device_name IN (SELECT p.device_name FROM device_peaks AS p) AS is_known_device,
        j.rank_count
    FROM of_ranks
    JOIN of_jobs AS j ON j.job = of_ranks.job
    LEFT JOIN attached AS x ON x.job = of_ranks.job AND x.rank = of_ranks.rank
    LEFT JOIN device_names(jobs, ranks) AS d ON d.job = of_ranks.job AND d.rank = of_ranks.rank
    WHERE (ranks IS NULL OR list_contains(ranks, of_ranks.rank))
)
SELECT
    job,
    rank,
    'incomplete_trace' AS fault,
    'warning' AS severity,
    damaged_count AS count,
    damaged_count / trace_count AS share_frac,
    'The trace''s file is damaged (' || damage || '), so events at its end may be missing. Ingest '
        || 'the whole file, or record again.' AS text,
    ['job_summary', 'profiler_steps', 'temporal_breakdown'] AS weakens
FROM facts
WHERE damaged_count > 0
UNION ALL
SELECT
    job,
    rank,
    'quarantined_events' AS fault,
    'warning' AS severity,
    bad_count AS count,
    bad_count / (bad_count + coalesce(event_count, 0)) AS share_frac,
    humane_count(bad_count, 'event of the trace could', 'events of the trace could') || ' not be '
        || 'read and ' || CASE WHEN bad_count = 1 THEN 'is' ELSE 'are' END || ' left out. The '
        || 'table quarantine has ' || CASE WHEN bad_count = 1 THEN 'it' ELSE 'them' END
        || ' with the reason.' AS text,
    ['kernel_stats', 'op_stats', 'temporal_breakdown'] AS weakens
FROM facts
WHERE bad_count > 0
UNION ALL
SELECT
    job,
    rank,
    'clamped_times' AS fault,
    'warning' AS severity,
    NULL AS count,
    NULL AS share_frac,
    'The first event begins at the base of the trace''s clock, ' || humane_ns(end_ns - start_ns)
        || ' before the last ends. The profiler writes this time for events with a wrong clock: '
        || 'do not trust the length of the trace.' AS text,
    ['folded_stacks', 'thread_stats'] AS weakens
FROM facts
WHERE begins_at_base
UNION ALL
SELECT
    job,
    rank,
    'missing_device_name' AS fault,
    'info' AS severity,
    NULL AS count,
    NULL AS share_frac,
    'The trace does not name its GPU, so its peaks are not known and shares of them are NULL. '
        || 'Kineto writes the name into deviceProperties.' AS text,
    [
        'findings', 'fleet_kernels', 'host_outliers', 'job_kernels', 'op_flops', 'step_mfu'
    ] AS weakens
FROM facts
WHERE device_name IS NULL AND may_have_activities
UNION ALL
SELECT
    job,
    rank,
    'unknown_device' AS fault,
    'info' AS severity,
    NULL AS count,
    NULL AS share_frac,
    'The peaks of the GPU ' || device_name || ' are not known, so shares of them are NULL. Replace '
        || 'the view device_peaks by one that has this name.' AS text,
    ['findings', 'op_flops', 'step_mfu'] AS weakens
FROM facts
WHERE NOT is_known_device AND may_have_activities
UNION ALL
SELECT
    job,
    rank,
    'missing_world_size' AS fault,
    'info' AS severity,
    NULL AS count,
    NULL AS share_frac,
    'The trace does not record how many ranks the job had, so missing ranks go unseen. PyTorch '
        || 'writes their number into distributedInfo if torch.distributed is running.' AS text,
    ['collectives', 'process_groups', 'stragglers'] AS weakens
FROM facts
WHERE world_size IS NULL AND (rank_count > 1 OR backend IS NOT NULL)
UNION ALL
SELECT
    job,
    rank,
    'unknown_rank' AS fault,
    'warning' AS severity,
    NULL AS count,
    NULL AS share_frac,
    'Neither the trace nor the name of its file has the rank. ' || rank || ' follows from the '
        || 'order of the files. Give the ranks with --rank N=FILE.' AS text,
    ['collectives', 'rank_imbalance', 'straggler_blame', 'stragglers'] AS weakens
FROM facts
WHERE rank_source = 'order' AND rank_count > 1
UNION ALL
SELECT
    job,
    NULL AS rank,
    'missing_ranks' AS fault,
    'info' AS severity,
    world_size - rank_count AS count,
    (world_size - rank_count) / world_size AS share_frac,
    'The archive has ' || rank_count || ' of the job''s ' || humane_count(
        world_size, 'rank', 'ranks'
    ) || '. Others may have made these wait. Ingest the traces of all ranks together.' AS text,
    [
        'collectives', 'findings', 'lost_gpu_time', 'rank_imbalance', 'straggler_blame',
        'stragglers'
    ] AS weakens
FROM of_jobs
WHERE world_size > rank_count
UNION ALL
SELECT
    job,
    NULL AS rank,
    'several_clocks' AS fault,
    CASE WHEN has_no_base OR apart_ns > 0 THEN 'warning' ELSE 'info' END AS severity,
    CASE WHEN NOT has_no_base AND coalesce(apart_ns, 0) <= 0 THEN host_count END AS count,
    NULL AS share_frac,
    CASE
        WHEN has_no_base
        THEN 'Traces of the job do not record what their times count from, so times of '
            || 'different ranks cannot be compared.'
        WHEN apart_ns > 0
        THEN 'A rank''s trace begins ' || humane_ns(apart_ns) || ' after another''s has ended: '
            || 'clocks differ, or the ranks were not recorded at the same time.'
        ELSE 'The ranks ran on ' || host_count || ' hosts, each with its own clock.'
    END || ' Queries across ranks align the clocks by collectives, if there are any; '
        || 'clock_offsets shows the errors that remain.' AS text,
    ['collective_members', 'heatmap', 'kernel_timeline', 'straggler_blame'] AS weakens
FROM of_jobs
WHERE rank_count > 1 AND (has_no_base OR apart_ns > 0 OR host_count > 1);
