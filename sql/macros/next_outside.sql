-- From each of these spans outwards, the first one that is none of them: reached_id, or NULL.
--
-- `passed` has job, rank, event_id and next_id, the span that is around it.
--
--     next_id   5 -> 4 -> 3 -> 2 -> 1      passed: 5, 4, 3
--     round 1   5 ------> 3, 4 ------> 2   3 is passed, too: on from where it leads
--     round 2   5 ------------> 2
--
-- A span that leads to a passed one leads where that one does. So each round doubles the way, and n
-- in one another take log2(n) rounds; one by one they would take n.
CREATE OR REPLACE MACRO next_outside(passed) AS TABLE
WITH RECURSIVE
ways(job, rank, event_id, reached_id, goes_on) USING KEY (job, rank, event_id) AS (
    SELECT p.job, p.rank, p.event_id, p.next_id, following.event_id IS NOT NULL
    FROM query_table(passed) AS p
    LEFT JOIN query_table(passed) AS following
        ON following.job = p.job AND following.rank = p.rank AND following.event_id = p.next_id
    UNION
    SELECT w.job, w.rank, w.event_id, following.reached_id, following.goes_on
    FROM ways AS w
    JOIN recurring.ways AS following
        ON following.job = w.job
        AND following.rank = w.rank
        AND following.event_id = w.reached_id
    WHERE w.goes_on
)
SELECT job, rank, event_id, reached_id
FROM ways;
