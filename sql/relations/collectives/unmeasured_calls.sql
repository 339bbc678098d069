-- One row per set of calls that cannot be measured completely, and the reason.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `groups`: rows of groups_of_jobs
-- `traced`: ranks with a trace. Unpaired calls are reported only for the jobs of these ranks
-- `jobs`: the jobs of `members` (NULL: all)
--
-- Each set belongs to one job. The reasons, and the set of calls in a row:
--   * unknown_members: the calls of a process group whose members are not known
--   * unknown_peer: the sends and receives of a rank in a group, if their peers are not known
--   * not_paired: the other unpaired calls of a rank in a group
--   * unknown_dtype: the collectives with a data type that has no size in dtype_sizes
--   * unknown_operation: the collectives with a name for which collective_operation is NULL
--   * splits_cut_short: the all-to-alls of a group, if the trace cuts their lists of splits short
--
-- The splits of an all-to-all are lists of how many rows of the tensor a rank sends to, and
-- receives from, each rank.
--
-- Returns job, reason, rank, group_id, collective_id, last_collective_id, collective_count and
-- detail. group_id is as in groups_of_jobs. The other columns are as in collective_audit.
--
-- reads: collective_calls, collective_operation, dtype_sizes
CREATE OR REPLACE MACRO unmeasured_calls(members, groups, traced, jobs) AS TABLE
SELECT
    m.job,
    CASE
        WHEN g.is_ambiguous THEN 'unknown_members'
        WHEN m.lane IS NULL THEN 'unknown_peer'
        ELSE 'not_paired'
    END AS reason,
    CASE WHEN g.is_ambiguous THEN NULL ELSE m.rank END AS rank,
    m.group_id,
    NULL AS collective_id,
    NULL AS last_collective_id,
    count(*) AS collective_count,
    CASE
        WHEN min(m.name) = max(m.name) THEN min(m.name)
        ELSE min(m.name) || ' to ' || max(m.name)
    END AS detail
FROM query_table(members) AS m
JOIN query_table(groups) AS g ON g.group_id = m.group_id
WHERE m.collective_id IS NULL
  AND m.job IN (SELECT t.job FROM query_table(traced) AS t)
GROUP BY m.job, reason, CASE WHEN g.is_ambiguous THEN NULL ELSE m.rank END, m.group_id
UNION ALL
SELECT
    m.job,
    'unknown_dtype' AS reason,
    NULL AS rank,
    NULL AS group_id,
    min(m.collective_id) AS collective_id,
    max(m.collective_id) AS last_collective_id,
    count(DISTINCT m.collective_id) AS collective_count,
    'number format ' || coalesce(m.dtype, 'not told') || ' has no size in dtype_sizes' AS detail
FROM query_table(members) AS m
ANTI JOIN dtype_sizes AS d ON d.dtype = m.dtype
WHERE m.operation IS DISTINCT FROM 'barrier' AND m.collective_id IS NOT NULL
GROUP BY m.job, m.dtype
UNION ALL
SELECT
    m.job,
    'unknown_operation' AS reason,
    NULL AS rank,
    NULL AS group_id,
    min(m.collective_id) AS collective_id,
    max(m.collective_id) AS last_collective_id,
    count(DISTINCT m.collective_id) AS collective_count,
    m.name || ' has no factor in bus_factors' AS detail
FROM query_table(members) AS m
WHERE m.operation IS NULL AND m.collective_id IS NOT NULL
GROUP BY m.job, m.name
UNION ALL
SELECT
    m.job,
    'splits_cut_short' AS reason,
    NULL AS rank,
    m.group_id,
    min(m.collective_id) AS collective_id,
    max(m.collective_id) AS last_collective_id,
    count(DISTINCT m.collective_id) AS collective_count,
    'lists of splits end in ...' AS detail
FROM query_table(members) AS m
JOIN (
    SELECT job, rank, event_id
    FROM collective_calls(jobs)
    WHERE collective_operation(name) = 'all_to_all'
      AND contains(in_split_sizes || out_split_sizes, '...')
) AS c ON c.job = m.job AND c.rank = m.rank AND c.event_id = m.event_id
WHERE m.collective_id IS NOT NULL AND m.operation = 'all_to_all'
GROUP BY m.job, m.group_id;
