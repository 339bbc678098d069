-- One row per trace and process group that the trace declares in its header, `distributedInfo`.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- The header has the ranks as a list or as the text of a list. The column ranks is NULL if that
-- text is cut short.
--
-- reads: traces
CREATE OR REPLACE MACRO declared_groups(jobs) AS TABLE
SELECT
    job,
    world_size,
    declared ->> '$.pg_name' AS process_group,
    TRY_CAST(declared ->> '$.ranks' AS INTEGER[]) AS ranks
FROM (
    SELECT
        t.job,
        t.world_size,
        unnest(
            TRY_CAST(json_extract(t.metadata, '$.distributedInfo.pg_config') AS JSON[])
        ) AS declared
    FROM traces AS t
    WHERE (jobs IS NULL OR list_contains(jobs, t.job))
);

-- One row per job and description of a process group, with the members of the group. A description
-- is what the traces say about a group: process_group, process_group_desc, group_size and
-- ranks_text.
--
-- `kinds`: rows of call_kinds
-- `jobs`: the jobs of `kinds` (NULL: all)
--
-- Returns job, the four columns of the description, and
--
--     member_total  number of members: group_size if it is known, else the length of ranks
--     group_id      number of the group, unique over all jobs. Descriptions with the same group_id
--                   agree in job, process_group, group_size and ranks. If ranks is NULL, the
--                   descriptions also agree in ranks_text
--     group_number  number of the group in its job, from 1, in order of names and members
--     ranks         all members, in the group's order; NULL if they are not known
--     ranks_source  source of ranks: `trace`, `distributedInfo`, `start and stride`,
--                   `first and last ranks` or `world size`; see the CTE candidates
--     is_ambiguous  true if the description may stand for several groups, see below
--
-- is_ambiguous is true if ranks is NULL and one of these holds:
--   * group_size is NULL.
--   * group_size is smaller than the number of ranks that use the description.
--
-- A name does not identify a group: groups that are created together may share a name. The profiler
-- shortens long lists of ranks, for example to `[0, 8, 16, ..., 504]`. Members from another source
-- count only if they agree with group_size and with the ranks that are left in the shortened list.
CREATE OR REPLACE MACRO known_groups(kinds, jobs) AS TABLE
WITH
described AS (
    SELECT
        job,
        process_group,
        process_group_desc,
        group_size,
        ranks_text,
        min(group_start_rank) AS start_rank,
        min(group_stride) AS stride,
        count(DISTINCT rank) AS rank_count
    FROM query_table(kinds)
    GROUP BY job, process_group, process_group_desc, group_size, ranks_text
),
read AS (
    SELECT
        *,
        contains(ranks_text, '...') AS is_cut,
        TRY_CAST(regexp_replace(ranks_text, ',?\s*\.\.\..*$', ']') AS INTEGER[]) AS first_ranks,
        TRY_CAST(regexp_extract(ranks_text, '\.\.\.,\s*(\d+)\s*\]', 1) AS INTEGER) AS last_rank
    FROM described
),
sizes AS (
    SELECT t.job, max(t.world_size) AS world_size
    FROM traces AS t
    WHERE (jobs IS NULL OR list_contains(jobs, t.job))
    GROUP BY t.job
),
-- Possible members of each group. The candidate with the lowest preference that agrees with the
-- description counts.
candidates AS (
    SELECT read.*, 1 AS preference, 'trace' AS source, first_ranks AS ranks
    FROM read
    WHERE NOT is_cut AND len(first_ranks) > 0
    UNION ALL BY NAME
    SELECT read.*, 2 AS preference, 'distributedInfo' AS source, declared.ranks
    FROM read
    JOIN declared_groups(jobs) AS declared
        ON declared.job = read.job AND declared.process_group = read.process_group
    UNION ALL BY NAME
    SELECT
        read.*,
        3 AS preference,
        'start and stride' AS source,
        list_transform(
            range(group_size), lambda i: TRY_CAST(start_rank + i * stride AS INTEGER)
        ) AS ranks
    FROM read
    WHERE stride > 0 AND start_rank >= 0 AND group_size BETWEEN 1 AND 1000000
    UNION ALL BY NAME
    SELECT
        read.*,
        4 AS preference,
        'first and last ranks' AS source,
        list_transform(
            range(group_size),
            lambda i: TRY_CAST(
                first_ranks[1] + i * (first_ranks[2]::BIGINT - first_ranks[1]) AS INTEGER
            )
        ) AS ranks
    FROM read
    WHERE is_cut AND last_rank IS NOT NULL AND len(first_ranks) > 1
      AND group_size BETWEEN 1 AND 1000000
    UNION ALL BY NAME
    SELECT read.*, 5 AS preference, 'world size' AS source, range(world_size)::INTEGER[] AS ranks
    FROM read
    JOIN sizes USING (job)
    WHERE NOT is_cut IS TRUE AND coalesce(len(first_ranks), 0) = 0 AND group_size = world_size
      AND group_size BETWEEN 1 AND 1000000
),
settled AS (
    SELECT
        job,
        process_group,
        process_group_desc,
        group_size,
        ranks_text,
        -- If several candidates have the same preference, the least list of ranks counts. So the
        -- result does not depend on the order of rows.
        min({'preference': preference, 'source': source, 'ranks': ranks}) AS best
    FROM candidates
    WHERE (group_size IS NULL OR len(ranks) = group_size)
      -- A rank that is no INTEGER is NULL. A list with such a rank, or one rank twice, is out.
      AND len(ranks) = len(list_distinct(ranks))
      AND (is_cut IS NOT TRUE OR first_ranks IS NULL OR ranks[1:len(first_ranks)] = first_ranks)
      AND (last_rank IS NULL OR ranks[len(ranks)] = last_rank)
    GROUP BY job, process_group, process_group_desc, group_size, ranks_text
),
with_ranks AS (
    SELECT
        read.job,
        read.process_group,
        read.process_group_desc,
        read.group_size,
        read.ranks_text,
        read.rank_count,
        settled.best.ranks AS ranks,
        settled.best.source AS ranks_source
    FROM read
    LEFT JOIN settled
        ON settled.job = read.job
        AND settled.process_group IS NOT DISTINCT FROM read.process_group
        AND settled.process_group_desc IS NOT DISTINCT FROM read.process_group_desc
        AND settled.group_size IS NOT DISTINCT FROM read.group_size
        AND settled.ranks_text IS NOT DISTINCT FROM read.ranks_text
)
SELECT
    job,
    process_group,
    process_group_desc,
    coalesce(group_size, len(ranks)) AS member_total,
    group_size,
    ranks_text,
    dense_rank() OVER (
        ORDER BY job, process_group, group_size, ranks, CASE WHEN ranks IS NULL THEN ranks_text END
    ) AS group_id,
    dense_rank() OVER (
        PARTITION BY job
        ORDER BY process_group, group_size, ranks, CASE WHEN ranks IS NULL THEN ranks_text END
    ) AS group_number,
    ranks,
    ranks_source,
    ranks IS NULL AND coalesce(rank_count > group_size, true) AS is_ambiguous
FROM with_ranks;
