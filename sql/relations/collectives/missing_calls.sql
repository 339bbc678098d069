-- One row per missing call: a rank has a trace, but the trace lacks the rank's call of a collective
-- or message.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `placed`: rows of placed_collectives
-- `groups`: rows of groups_of_jobs
-- `traced`: the ranks that have a trace
-- `clocks`: rows of aligned_clocks
-- `jobs`: the jobs of the rows in the other parameters (NULL: all)
--
-- The collectives of a process group are a lane. The messages from one sender to one receiver in a
-- group are a lane. Returns job, lane, collective_id, place, start_ns, end_ns and rank_count as in
-- placed_collectives, rank (the missing rank), and
--
--     cut_at  why the call may be missing: the call lies before the start of the rank's recording
--             (start), or after its end (end). NULL if neither holds
--
-- cut_at is
--   * start if the collective is before all calls of the rank in the lane, and begins at or before
--     the start of the rank's first GPU activity
--   * end if the collective is after all calls of the rank in the lane, and ends at or after the
--     end of the rank's last GPU activity
--   * start if the rank has no GPU activity
--   * NULL in all other cases
--
-- If the rank has no call in the lane, the collective is both before and after all calls of the
-- rank.
--
-- reads: aligned_ns, gpu_activities
CREATE OR REPLACE MACRO missing_calls(members, placed, groups, traced, clocks, jobs) AS TABLE
WITH
-- The time in which each rank was recorded, on the reference rank's clock. If a rank's clock is not
-- known, the time stays on the rank's own clock.
recorded AS (
    SELECT
        a.job,
        a.rank,
        coalesce(aligned_ns(a.from_ns, c.local_ns, c.reference_ns, c.gain), a.from_ns) AS from_ns,
        coalesce(aligned_ns(a.until_ns, c.local_ns, c.reference_ns, c.gain), a.until_ns) AS until_ns
    FROM (
        SELECT job, rank, min(start_ns) AS from_ns, max(end_ns) AS until_ns
        FROM gpu_activities
        WHERE (jobs IS NULL OR list_contains(jobs, job))
        GROUP BY job, rank
    ) AS a
    LEFT JOIN query_table(clocks) AS c ON c.job = a.job AND c.rank = a.rank
),
-- lane_ranks has the ranks that should have calls in each lane: the members of the group, or the
-- sender and the receiver. Other ranks with calls in the lane are added.
lanes AS MATERIALIZED (
    SELECT DISTINCT m.job, m.group_id, m.lane, m.is_message
    FROM query_table(members) AS m
    WHERE m.lane IS NOT NULL
),
lane_ranks AS (
    SELECT l.job, l.lane, unnest(g.ranks) AS rank
    FROM lanes AS l
    JOIN query_table(groups) AS g ON g.group_id = l.group_id
    WHERE NOT l.is_message AND g.ranks IS NOT NULL
    UNION
    SELECT l.job, l.lane, (l.lane >> 20 & 1048575)::INTEGER - 1 AS rank
    FROM lanes AS l
    WHERE l.is_message
    UNION
    SELECT l.job, l.lane, (l.lane & 1048575)::INTEGER - 1 AS rank
    FROM lanes AS l
    WHERE l.is_message
    UNION
    SELECT DISTINCT m.job, m.lane, m.rank
    FROM query_table(members) AS m
    WHERE m.lane IS NOT NULL
),
-- Leaves out the ranks with unpaired calls in the lane. unmeasured_calls reports the unpaired calls
-- in one row, not in one row per collective.
expected AS MATERIALIZED (
    SELECT r.job, r.lane, r.rank
    FROM lane_ranks AS r
    JOIN query_table(traced) AS t ON t.job = r.job AND t.rank = r.rank
    ANTI JOIN (
        SELECT m.lane, m.rank
        FROM query_table(members) AS m
        WHERE m.collective_id IS NULL AND m.lane IS NOT NULL
    ) AS u ON u.lane = r.lane AND u.rank = r.rank
),
expected_counts AS (
    SELECT job, lane, count(*) AS rank_count
    FROM expected
    GROUP BY job, lane
),
-- Collectives whose number of ranks differs from the number of expected ranks. The next CTE,
-- in_their_lanes, has the members of all collectives in the lanes of incomplete collectives.
incomplete AS MATERIALIZED (
    SELECT p.job, p.lane, p.collective_id, p.place, p.start_ns, p.end_ns, p.rank_count
    FROM query_table(placed) AS p
    JOIN expected_counts AS n ON n.job = p.job AND n.lane = p.lane
    WHERE n.rank_count <> p.rank_count
),
in_their_lanes AS MATERIALIZED (
    SELECT m.job, m.collective_id, m.lane, m.rank
    FROM query_table(members) AS m
    SEMI JOIN incomplete AS i ON i.lane = m.lane
    WHERE m.collective_id IS NOT NULL
),
missing AS MATERIALIZED (
    SELECT i.*, e.rank
    FROM incomplete AS i
    JOIN expected AS e ON e.job = i.job AND e.lane = i.lane
    ANTI JOIN in_their_lanes AS m
        ON m.job = i.job AND m.collective_id = i.collective_id AND m.rank = e.rank
),
present AS (
    SELECT m.lane, m.rank, min(p.place) AS first_place, max(p.place) AS last_place
    FROM in_their_lanes AS m
    JOIN query_table(placed) AS p ON p.job = m.job AND p.collective_id = m.collective_id
    GROUP BY m.lane, m.rank
)
SELECT
    x.*,
    CASE
        WHEN x.place < coalesce(p.first_place, x.place + 1) AND x.start_ns <= r.from_ns
        THEN 'start'
        WHEN x.place > coalesce(p.last_place, x.place - 1) AND x.end_ns >= r.until_ns
        THEN 'end'
        WHEN r.rank IS NULL THEN 'start'
    END AS cut_at
FROM missing AS x
LEFT JOIN present AS p ON p.lane = x.lane AND p.rank = x.rank
LEFT JOIN recorded AS r ON r.job = x.job AND r.rank = x.rank;
