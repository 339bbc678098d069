-- One row per rank with GPU activities in the window: since when its devices can work for the
-- window, on the reference rank's clock.
--
-- The devices can work for the window once the window has begun on the host and earlier activities
-- have ended:
--
--     host      [===== window =====)
--     device  earlier)     [a)[b )      begins_ns is the end of `earlier`
--     device                 [a)[b )    begins_ns is the start of the window
--
-- An activity of another stream may still run when the first activity of the window begins. Then
-- begins_ns is the start of this first activity.
CREATE OR REPLACE TEMP TABLE job_device_begins AS
WITH
first_activities AS (
    SELECT rank, min(at_ns) AS start_ns
    FROM job_points
    WHERE lane = 'device' AND is_start
    GROUP BY rank
),
windows AS (
    SELECT rank, at_ns AS start_ns
    FROM job_points
    WHERE lane = 'window' AND is_start
),
earlier AS (
    SELECT
        e.rank,
        coalesce(aligned_ns(e.end_ns, c.local_ns, c.reference_ns, c.gain), e.end_ns) AS end_ns
    FROM job_earlier_activities AS e
    LEFT JOIN job_clocks AS c ON c.rank = e.rank
)
SELECT
    a.rank,
    -- greatest leaves out the NULL of a rank without earlier activities.
    least(a.start_ns, greatest(w.start_ns, e.end_ns)) AS begins_ns
FROM first_activities AS a
JOIN windows AS w ON w.rank = a.rank
LEFT JOIN earlier AS e ON e.rank = a.rank;
