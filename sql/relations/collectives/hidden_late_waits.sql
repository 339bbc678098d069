-- How much of the waits for late ranks is hidden by computation.
--
-- `late` needs late_id, job and collective_id. `members` are rows of paired_members of `jobs`
-- (NULL: all). Returns late_id and hidden_wait_ns, the sum over the collective's members. The sum
-- is NULL if one of the waits is not known.
--
-- reads: hidden_waits
CREATE OR REPLACE MACRO hidden_late_waits(late, members, jobs) AS TABLE
WITH
late_waits AS (
    SELECT
        l.late_id,
        m.job,
        m.rank,
        m.event_id,
        m.device,
        m.start_ns,
        m.dur_ns,
        m.wait_ns,
        m.computed_before_ns,
        m.hidden_ns
    FROM query_table(members) AS m
    JOIN query_table(late) AS l ON l.job = m.job AND l.collective_id = m.collective_id
    WHERE m.wait_ns > 0
)
SELECT
    late_id,
    CASE
        WHEN count(hidden_wait_ns) = count(*) THEN sum(hidden_wait_ns)::BIGINT
    END AS hidden_wait_ns
FROM hidden_waits(late_waits, jobs, NULL)
GROUP BY late_id;
