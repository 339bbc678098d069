-- One row per member's call of a collective or message in which ranks wait for each other, with the
-- node at which its members meet.
--
-- In such a collective or message, data moves only after the last member has come. So each
-- collective or message gets a node of its own, `meeting`, at the start of its last member's call.
-- The time from the meeting to the end of a member's call is the transfer.
--
-- A collective or message has a meeting only under these conditions:
--   * At least two of its members are in the graph. Members on other ranks, which are left out,
--     count as if they came no later than these.
--   * It is a message, or a collective that all members leave together. In other collectives, such
--     as a broadcast, the root waits for no other rank.
--
--     rank 0   [========================)
--     rank 1                  [=========)
--     meeting                 |
--
-- In the drawing, the transfer of both ranks lasts from rank 1's start to their common end.
CREATE OR REPLACE TEMP TABLE job_meetings AS
WITH
members AS (
    SELECT m.collective_id, m.rank, m.event_id
    FROM job_members AS m
    WHERE m.collective_id IS NOT NULL AND (m.ends_together OR m.is_message)
),
placed AS (
    SELECT
        m.collective_id,
        m.rank,
        m.event_id,
        first.node AS first,
        first.at_ns AS start_ns,
        last.node AS last,
        last.at_ns AS end_ns
    FROM members AS m
    JOIN job_points AS first
        ON first.rank = m.rank AND first.event_id = m.event_id AND first.is_start
    JOIN job_points AS last
        ON last.rank = m.rank AND last.event_id = m.event_id AND NOT last.is_start
),
meetings AS (
    SELECT
        collective_id,
        row_number() OVER (ORDER BY collective_id) - 1 + (SELECT count(*) FROM job_points) AS node,
        max(start_ns) AS at_ns
    FROM placed
    GROUP BY collective_id
    HAVING count(*) > 1
)
SELECT m.node AS meeting, m.at_ns AS meeting_ns, p.*
FROM placed AS p
JOIN meetings AS m ON m.collective_id = p.collective_id;
