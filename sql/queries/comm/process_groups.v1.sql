-- Process groups of each job: their ranks and their kind of parallelism.
--
-- The trace lists a group's ranks with each collective. The profiler shortens lists of more than 30
-- ranks, and a trace may lack the list. If the list is shortened or missing, the query tries the
-- sources below. It uses the first source that agrees with the group's size and with the ranks that
-- are left in the list. ranks_source names the source:
--
--     1  distributedInfo        ranks that the header of the trace declares
--     2  start and stride       ranks that follow from the group's first
--                               rank and stride in the trace
--     3  first and last ranks   ranks that follow from the first two ranks
--                               and the last rank in the shortened list:
--                               [0, 8, ..., 504] gives 0, 8, 16, 24 and so
--                               on up to 504
--     4  world size             all ranks of the job; only if the list has
--                               no rank and the group is as large as the job
--
-- `role` comes from one of three sources: the first of them that gives a role. `evidence` is the
-- reason:
--
--     1  description  the description contains one of these words:
--                     tensor: tp, tensor, mp
--                     pipeline: pp, pipe, pipeline, stage
--                     expert: ep, expert, experts, moe
--                     context: cp, context, sp, sequence, ulysses, ring
--                     data: dp, ddp, fsdp, hsdp, data, shard, sharded,
--                           replicate, replica
--     2  calls        pipeline: over half of the calls send or receive
--                     expert: over half of the calls are all-to-alls
--     3  ranks        data: the job has only this group, and the group
--                           has all ranks of the job
--                     world: the group has all ranks of the job, or its
--                            description is default_pg
--                     tensor: stride is 1, and all ranks are on one machine
--                     data: stride is above 1
--
-- If a source gives several roles, the first of them in this list counts. Roles from the calls and
-- the ranks are guesses.
--
-- Groups without collectives or messages have no row.
--
-- since: 0.1
-- grain: job, group_id
-- needs: collectives, ranks
-- returns:
--   job                 VARCHAR    -      run of a program with traces of two ranks or more
--   group_id            BIGINT     -      number of the group, as in collectives
--   process_group       VARCHAR    -      name of the group, which several groups may share
--   process_group_desc  VARCHAR    -      purpose of the group, if the program gives it
--   group_size          BIGINT     -      ranks in the group
--   ranks               INTEGER[]  -      all ranks of the group, in the group's order; NULL if
--                                         they are not known
--   ranks_source        VARCHAR    -      `trace` if the trace lists all ranks; otherwise the
--                                         source, as above; NULL if ranks is NULL
--   first_rank          INTEGER    -      lowest rank of the group; NULL if the ranks are not known
--   stride              BIGINT     -      distance from each rank to the next. NULL if the
--                                         distances differ, if the group has only one rank, or if
--                                         the ranks are not known
--   trace_count         BIGINT     count  ranks of the group that have calls in the archive
--   role                VARCHAR    -      data, tensor, pipeline, expert, context or world; NULL if
--                                         no source gives one
--   evidence            VARCHAR    -      why the group has this role; NULL if role is NULL
--   call_count          BIGINT     count  kernels of the collectives, sends and receives of the
--                                         group
--   operations          VARCHAR    -      operations of these kernels, the most frequent first,
--                                         each with its percent of the kernels, such as all_reduce
--                                         75 %, broadcast 25 %
-- check: (role IS NULL) = (evidence IS NULL)
-- check: ranks IS NULL OR len(ranks) = group_size
-- check: call_count >= trace_count AND trace_count > 0
-- reads: groups_of_jobs, machines, paired_members, traces
CREATE OR REPLACE MACRO process_groups_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL  -- groups with calls of these ranks [default: all]
) AS TABLE
WITH
groups AS MATERIALIZED (
    FROM groups_of_jobs(only_jobs)
),
members AS MATERIALIZED (
    SELECT m.job, m.group_id, m.rank, m.operation, m.name, count(*) AS call_count
    FROM paired_members(only_jobs) AS m
    GROUP BY m.job, m.group_id, m.rank, m.operation, m.name
),
jobs AS (
    SELECT t.job, count(DISTINCT t.rank) AS rank_count, max(t.world_size) AS world_size
    FROM traces AS t
    GROUP BY t.job
),
operations AS (
    SELECT job, group_id, coalesce(operation, name) AS operation, sum(call_count) AS call_count
    FROM members
    GROUP BY job, group_id, coalesce(operation, name)
),
shares AS (
    SELECT
        group_id,
        sum(call_count) AS call_count,
        sum(call_count) FILTER (operation IN ('send', 'recv')) AS message_count,
        sum(call_count) FILTER (operation = 'all_to_all') AS all_to_all_count,
        string_agg(
            operation || ' ' || round(100 * share)::INTEGER || ' %', ', '
            ORDER BY call_count DESC, operation
        ) AS operations
    FROM (
        SELECT *, call_count / sum(call_count) OVER (PARTITION BY group_id) AS share
        FROM operations
    )
    GROUP BY group_id
),
parts AS (
    SELECT
        m.group_id,
        count(DISTINCT m.rank) AS trace_count,
        count(DISTINCT h.host) AS host_count,
        bool_or(list_contains(only_ranks, m.rank)) AS is_picked
    FROM members AS m
    LEFT JOIN machines(only_jobs) AS h ON h.job = m.job AND h.rank = m.rank
    GROUP BY m.group_id
),
measured AS (
    SELECT
        g.*,
        j.rank_count,
        coalesce(j.world_size, j.rank_count) AS world_size,
        p.trace_count,
        p.host_count,
        p.is_picked,
        s.call_count,
        coalesce(s.message_count, 0) AS message_count,
        coalesce(s.all_to_all_count, 0) AS all_to_all_count,
        s.operations,
        count(*) OVER (PARTITION BY g.job) AS group_count,
        list_min(g.ranks) AS first_rank,
        CASE
            WHEN len(g.ranks) > 1
                AND g.ranks = list_transform(
                    range(len(g.ranks)),
                    lambda i: g.ranks[1] + i * (g.ranks[2]::BIGINT - g.ranks[1])
                )
            THEN g.ranks[2]::BIGINT - g.ranks[1]
        END AS stride,
        regexp_extract_all(lower(g.process_group_desc), '[a-z]+') AS words
    FROM groups AS g
    JOIN jobs AS j ON j.job = g.job
    JOIN parts AS p ON p.group_id = g.group_id
    JOIN shares AS s ON s.group_id = g.group_id
    WHERE j.rank_count > 1
),
described AS (
    SELECT
        *,
        CASE
            WHEN list_has_any(words, ['tp', 'tensor', 'mp']) THEN 'tensor'
            WHEN list_has_any(words, ['pp', 'pipe', 'pipeline', 'stage']) THEN 'pipeline'
            WHEN list_has_any(words, ['ep', 'expert', 'experts', 'moe']) THEN 'expert'
            WHEN list_has_any(words, ['cp', 'context', 'sp', 'sequence', 'ulysses', 'ring'])
            THEN 'context'
            WHEN list_has_any(
                words,
                ['dp', 'ddp', 'fsdp', 'hsdp', 'data', 'shard', 'sharded', 'replicate', 'replica']
            )
            THEN 'data'
        END AS role_by_words,
        CASE
            WHEN 2 * message_count > call_count THEN 'pipeline'
            WHEN 2 * all_to_all_count > call_count THEN 'expert'
        END AS role_by_calls,
        CASE
            WHEN group_size = world_size AND group_count = 1 THEN 'data'
            WHEN group_size = world_size OR process_group_desc = 'default_pg' THEN 'world'
            WHEN stride = 1 AND host_count = 1 THEN 'tensor'
            WHEN stride > 1 THEN 'data'
        END AS role_by_ranks
    FROM measured
)
SELECT
    d.job,
    d.group_number AS group_id,
    d.process_group,
    d.process_group_desc,
    d.group_size,
    d.ranks,
    d.ranks_source,
    d.first_rank,
    d.stride,
    d.trace_count,
    coalesce(d.role_by_words, d.role_by_calls, d.role_by_ranks) AS role,
    CASE
        WHEN d.role_by_words IS NOT NULL
        THEN 'its description says ' || d.process_group_desc
        WHEN d.role_by_calls IS NOT NULL THEN 'most of its calls: ' || d.operations
        WHEN d.role_by_ranks = 'data' AND d.group_count = 1
        THEN 'all ' || d.group_size || ' ranks, and the only group'
        WHEN d.role_by_ranks = 'world'
        THEN coalesce('all ' || d.group_size || ' ranks', 'its description says default_pg')
        WHEN d.role_by_ranks = 'tensor'
        THEN len(d.ranks) || ' ranks next to each other on one machine'
        WHEN d.role_by_ranks = 'data'
        THEN len(d.ranks) || ' ranks, each ' || d.stride || ' from the next'
    END AS evidence,
    d.call_count::BIGINT AS call_count,
    d.operations
FROM described AS d
WHERE (only_ranks IS NULL OR d.is_picked)
ORDER BY d.job, d.group_number;
