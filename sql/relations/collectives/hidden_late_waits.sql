-- One row per late arrival: how much of the waits for the late rank is hidden by computation.
--
-- `late`: late arrivals. Needs late_id, job and collective_id
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `jobs`: the jobs of `members` (NULL: all)
--
-- Returns late_id and hidden_wait_ns. hidden_wait_ns is the sum over the waiting members of the
-- collective, in ns. hidden_wait_ns is NULL if the hidden part of one of these waits is not known.
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
