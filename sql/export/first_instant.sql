-- One row: the time at which a job begins, on the reference rank's clock.
--
-- The job begins with its first activity, as in kernel_timeline. If the job has no activities, it
-- begins with its first span.
WITH
activities AS (
    SELECT a.rank, min(a.start_ns) AS start_ns
    FROM gpu_activities AS a
    WHERE a.job = getvariable('export_job')
    GROUP BY a.rank
),
starts AS (
    SELECT rank, start_ns, 1 AS preference
    FROM activities
    UNION ALL
    SELECT t.rank, t.start_ns, 2 AS preference
    FROM traces AS t
    WHERE t.job = getvariable('export_job')
)
SELECT
    min({
        'preference': s.preference,
        'at_ns': coalesce(aligned_ns(s.start_ns, c.local_ns, c.reference_ns, c.gain), s.start_ns)
    }).at_ns
FROM starts AS s
LEFT JOIN export_clocks AS c ON c.rank = s.rank
WHERE s.start_ns IS NOT NULL
