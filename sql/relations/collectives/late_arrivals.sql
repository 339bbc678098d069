-- One row per late arrival at a collective or message: which rank was late, and what delayed it.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `jobs`: the jobs of `members` (NULL: all)
-- `least_ns`: an arrival is late if it comes at least this long after the peer's arrival (ns)
--
-- An arrival is the start of a member's call. The peer is the member in the middle of the order of
-- arrival, see late_windows.
--
-- Returns the columns of late_windows and late_causes.
--
-- reads: busy_times, gpu_activities, late_causes, late_windows, window_pieces
CREATE OR REPLACE MACRO late_arrivals(members, jobs, least_ns) AS TABLE
WITH
late AS MATERIALIZED (
    FROM late_windows(members, least_ns)
),
windows AS (
    SELECT 2 * late_id AS window_id, job, rank, from_ns, until_ns
    FROM late
    UNION ALL
    SELECT 2 * late_id + 1 AS window_id, job, peer AS rank, peer_from_ns, peer_until_ns
    FROM late
),
activities AS NOT MATERIALIZED (
    SELECT a.job, a.rank, a.event_id, a.kind, a.short_name AS name, a.op_id, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
),
pieces AS MATERIALIZED (
    FROM window_pieces(windows, activities)
),
of_windows AS (
    SELECT job, rank, NULL::BIGINT AS device, window_id AS step, kind, start_ns, end_ns
    FROM pieces
),
busy AS (
    FROM busy_times(of_windows)
),
causes AS (
    FROM late_causes(late, pieces, busy, members)
)
SELECT l.*, c.* EXCLUDE (late_id)
FROM late AS l
JOIN causes AS c ON c.late_id = l.late_id;
