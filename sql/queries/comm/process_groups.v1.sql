-- The process groups of a job: who is in them, and what kind of parallelism they are for.
--
-- A group's ranks are those that the trace lists with each collective. The profiler shortens lists
-- of more than 30; they are rebuilt (ranks_source) from what the trace's header declares
-- (distributedInfo), else from the group's first rank and stride, else from the first two ranks and
-- the last. What rebuilds a list has to agree with all that is left of it.
--
-- role is what the first of these says, and evidence says which:
--
--     the description  names it: tp or tensor, dp, data, ddp, fsdp or shard, pp or pipe, ep or
--                      expert, cp, context or sequence; default_pg is the world
--     the calls        more sends and receives than collectives: pipeline; more all-to-alls than
--                      other collectives: expert
--     the ranks        all of the job's: data where the job has no other groups, else world. Next
--                      to each other, all on one machine, fewer than the job's: tensor. Else, at
--                      equal distances: data
--
-- So the last two are guesses. Groups in which no collective ran are not there. HTA has no
-- counterpart.
--
-- since: 0.1
-- grain: job, group_id
-- returns:
--   job                 VARCHAR    -      run of a program; one with traces of two ranks or more
--   group_id            BIGINT     -      number of the group, as in collectives
--   process_group       VARCHAR    -      name, which several groups may share
--   process_group_desc  VARCHAR    -      what it is for, where the program said it
--   group_size          BIGINT     -      ranks in the group
--   ranks               INTEGER[]  -      all of them, in their order in the group; NULL: not known
--   ranks_source        VARCHAR    -      what tells them
--   first_rank          INTEGER    -      the lowest of them
--   stride              BIGINT     -      distance from each to the next; NULL: not the same
--   trace_count         BIGINT     count  of its ranks, those with calls in the archive
--   role                VARCHAR    -      data, tensor, pipeline, expert, context or world; NULL:
--                                         nothing tells
--   evidence            VARCHAR    -      what tells the role
--   call_count          BIGINT     count  kernels of collectives, sends and receives
--   operations          VARCHAR    -      what they do, most frequent first, with their shares
-- check: (role IS NULL) = (evidence IS NULL)
-- check: ranks IS NULL OR len(ranks) = group_size
-- check: call_count >= trace_count AND trace_count > 0
-- reads: groups_of_jobs, machines, paired_members, traces
CREATE OR REPLACE MACRO process_groups_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL  -- report groups with calls of one of these [default: all]
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
                    lambda i: (g.ranks[1] + i * (g.ranks[2] - g.ranks[1]))::INTEGER
                )
            THEN (g.ranks[2] - g.ranks[1])::BIGINT
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
        WHEN d.role_by_ranks = 'world' THEN 'all ' || d.group_size || ' ranks'
        WHEN d.role_by_ranks = 'tensor'
        THEN d.group_size || ' ranks next to each other on one machine'
        WHEN d.role_by_ranks = 'data'
        THEN d.group_size || ' ranks, each ' || d.stride || ' from the next'
    END AS evidence,
    d.call_count::BIGINT AS call_count,
    d.operations
FROM described AS d
WHERE (only_ranks IS NULL OR d.is_picked)
ORDER BY d.job, d.group_number;
