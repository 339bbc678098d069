-- One row per rank with calls of collectives that another rank of their process group lacks.
--
-- `jobs`: list of jobs to select (NULL: all)
--
-- Returns job, rank, call_count (calls in groups that several ranks of the archive use) and
-- lone_count (those of them that not all of these ranks have). Calls are the same if they have the
-- same Comms Id, or the same Seq if some calls of the group have no Comms Id. Groups without either
-- are left out: their calls pair by order, which collective_audit tests. Sends and receives are
-- left out, too, since only two ranks have them.
--
-- reads: collective_calls, collective_operation, is_point_to_point
CREATE OR REPLACE MACRO unpaired_calls(jobs) AS TABLE
WITH
calls AS MATERIALIZED (
    SELECT
        c.job,
        c.rank,
        c.comms_id,
        CASE WHEN c.seq >= 0 THEN c.seq::UBIGINT END AS seq,
        hash(c.process_group, c.process_group_desc, c.group_size, c.ranks_text) AS group_key
    FROM collective_calls(jobs) AS c
    WHERE NOT is_point_to_point(collective_operation(c.name))
),
groups AS (
    SELECT
        job,
        group_key,
        count(DISTINCT rank) AS rank_count,
        bool_and(comms_id IS NOT NULL) AS has_comms_ids
    FROM calls
    GROUP BY job, group_key
    HAVING count(DISTINCT rank) > 1
       AND (bool_and(comms_id IS NOT NULL) OR bool_and(seq IS NOT NULL))
),
numbered AS (
    SELECT
        c.job,
        c.rank,
        c.group_key,
        g.rank_count,
        CASE WHEN g.has_comms_ids THEN c.comms_id ELSE c.seq END AS number
    FROM calls AS c
    JOIN groups AS g ON g.job = c.job AND g.group_key = c.group_key
),
numbers AS (
    SELECT job, group_key, number, count(DISTINCT rank) AS rank_count
    FROM numbered
    GROUP BY job, group_key, number
)
SELECT
    c.job,
    c.rank,
    count(*) AS call_count,
    count(*) FILTER (n.rank_count < c.rank_count) AS lone_count
FROM numbered AS c
JOIN numbers AS n ON n.job = c.job AND n.group_key = c.group_key AND n.number = c.number
GROUP BY c.job, c.rank;
