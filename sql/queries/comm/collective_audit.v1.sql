-- What did not pair cleanly across ranks, each fault once.
--
--     reason             a row for each                       what it means
--     missing_rank       rank and run of collectives          the rank has a trace and was being
--                                                             recorded, but not these
--     extra_call         rank and run of collectives          only this rank had them; two or more
--                                                             others, recorded then, did not
--     cut_by_window      rank, and start or end of its trace  its recording began after these, or
--                                                             ended before them; of all groups
--     other_name, other_dtype, other_size
--                        run of collectives                   members disagree; rank is the odd one
--     out_of_order       run of collectives of a rank         it ran them after later ones, by Seq
--     trace_missing      group                                some members have no trace in the
--                                                             archive: waits may be for them
--     not_paired         rank and group                       no ids, and its order fits no other
--                                                             rank's
--     unknown_peer       rank and group                       sends or receives that name no peer
--     unknown_members    group                                its ranks are not told, and there are
--                                                             more than in one group
--     unknown_dtype      number format                        bytes and bandwidth are NULL
--     unknown_operation  name of a collective                 bandwidth is NULL, and it counts
--                                                             neither for clocks nor for stragglers
--     splits_cut_short   group                                all-to-alls that do not tell their
--                                                             splits whole: bandwidth is NULL
--
-- A run is a stretch of a group's collectives one after the other. Sizes are held against each
-- other only where all members have to give the same. Of jobs with one trace only the last three
-- are told.
--
-- A collective of other_name counts for clocks and stragglers only where whatever its members call
-- it is one that all leave together.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: job, finding
-- returns:
--   job                 VARCHAR  -      run of a program
--   finding             BIGINT   -      1, 2, ... in the job
--   reason              VARCHAR  -      what is wrong
--   rank                INTEGER  -      whose fault; NULL: no single one's
--   group_id            BIGINT   -      number of the group in process_groups; NULL: of all groups
--   process_group       VARCHAR  -      its name
--   name                VARCHAR  -      collective, as PyTorch names it; of several the first
--   collective_id       BIGINT   -      first one, as in collectives; ids of what only one rank has
--                                       are in none of its rows
--   last_collective_id  BIGINT   -      last one
--   collective_count    BIGINT   count  how many
--   detail              VARCHAR  -      what was found
-- check: collective_count > 0
-- check: last_collective_id >= collective_id OR reason = 'out_of_order' OR reason = 'missing_rank'
CREATE OR REPLACE MACRO collective_audit_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to look at; NULL means all
    only_ranks INTEGER[] := NULL  -- report faults of these, and of no single one; NULL means all
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
),
groups AS MATERIALIZED (
    FROM groups_of_jobs(only_jobs)
),
traced AS MATERIALIZED (
    SELECT job, rank
    FROM (
        SELECT t.job, t.rank FROM traces AS t
        UNION
        SELECT m.job, m.rank FROM members AS m
    )
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, job))
    QUALIFY count(*) OVER (PARTITION BY job) > 1
),
clocks AS MATERIALIZED (
    FROM aligned_clocks(members)
),
-- When each rank was being recorded, on the reference rank's clock where that is known.
recorded AS (
    SELECT
        a.job,
        a.rank,
        coalesce(aligned_ns(a.from_ns, c.local_ns, c.reference_ns, c.gain), a.from_ns) AS from_ns,
        coalesce(aligned_ns(a.until_ns, c.local_ns, c.reference_ns, c.gain), a.until_ns) AS until_ns
    FROM (
        SELECT job, rank, min(start_ns) AS from_ns, max(end_ns) AS until_ns
        FROM gpu_activities
        WHERE (only_jobs IS NULL OR list_contains(only_jobs, job))
        GROUP BY job, rank
    ) AS a
    LEFT JOIN clocks AS c ON c.job = a.job AND c.rank = a.rank
),
-- The ranks of each lane that could have been seen: members of the group, or both ends of messages.
lanes AS MATERIALIZED (
    SELECT DISTINCT m.job, m.group_id, m.lane, m.is_message
    FROM members AS m
    WHERE m.lane IS NOT NULL
),
lane_ranks AS (
    SELECT l.job, l.lane, unnest(g.ranks) AS rank
    FROM lanes AS l
    JOIN groups AS g ON g.group_id = l.group_id
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
    FROM members AS m
    WHERE m.lane IS NOT NULL
),
-- But for those whose calls are not paired: that is told once, not collective by collective.
expected AS MATERIALIZED (
    SELECT r.job, r.lane, r.rank
    FROM lane_ranks AS r
    JOIN traced AS t ON t.job = r.job AND t.rank = r.rank
    ANTI JOIN (
        SELECT m.lane, m.rank
        FROM members AS m
        WHERE m.collective_id IS NULL AND m.lane IS NOT NULL
    ) AS u ON u.lane = r.lane AND u.rank = r.rank
),
expected_counts AS (
    SELECT job, lane, count(*) AS rank_count
    FROM expected
    GROUP BY job, lane
),
found AS MATERIALIZED (
    SELECT
        m.job,
        m.collective_id,
        any_value(m.lane) AS lane,
        any_value(m.group_id) AS group_id,
        min(CASE WHEN m.is_message THEN 'send' ELSE m.name END) AS name,
        any_value(m.member_count) AS member_count,
        -- Each rank is in it once.
        count(*) AS rank_count,
        min(m.seq) AS seq,
        min(m.seq) <> max(m.seq) AS has_seqs,
        -- On aligned clocks where they are known.
        min(
            coalesce(aligned_ns(m.start_ns, c.local_ns, c.reference_ns, c.gain), m.start_ns)
        ) AS start_ns,
        max(
            coalesce(aligned_ns(m.start_ns, c.local_ns, c.reference_ns, c.gain), m.start_ns)
        ) AS last_start_ns,
        max(
            coalesce(aligned_ns(m.end_ns, c.local_ns, c.reference_ns, c.gain), m.end_ns)
        ) AS end_ns,
        min(m.name) <> max(m.name) AND NOT any_value(m.is_message) AS has_names,
        min(coalesce(m.dtype, '')) <> max(coalesce(m.dtype, '')) AS has_dtypes,
        (
            min(coalesce(m.in_nelems, -1)) <> max(coalesce(m.in_nelems, -1))
            OR min(coalesce(m.out_nelems, -1)) <> max(coalesce(m.out_nelems, -1))
        ) AND bool_and(sizes_agree(m.name)) AS has_sizes
    FROM members AS m
    LEFT JOIN clocks AS c ON c.job = m.job AND c.rank = m.rank
    WHERE m.collective_id IS NOT NULL
    GROUP BY m.job, m.collective_id
),
placed AS MATERIALIZED (
    SELECT
        *,
        row_number() OVER (PARTITION BY lane ORDER BY seq, start_ns, collective_id) AS place
    FROM found
),
-- Lanes in which some rank may have had its calls in another order than that of their Seq: not
-- those where all members of each collective had begun when the first of the next one did.
entangled AS MATERIALIZED (
    SELECT lane
    FROM (
        SELECT
            lane,
            has_seqs,
            start_ns,
            max(last_start_ns) OVER (
                PARTITION BY lane ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS last_start_before_ns
        FROM placed
        WHERE seq IS NOT NULL
    )
    WHERE has_seqs OR start_ns <= last_start_before_ns
    GROUP BY lane
),
-- Collectives without a rank that has a trace; the members of all in their lanes; who is missing.
incomplete AS MATERIALIZED (
    SELECT p.job, p.lane, p.collective_id, p.place, p.start_ns, p.end_ns, p.rank_count
    FROM placed AS p
    JOIN expected_counts AS n ON n.job = p.job AND n.lane = p.lane
    WHERE n.rank_count <> p.rank_count
),
in_their_lanes AS MATERIALIZED (
    SELECT m.job, m.collective_id, m.lane, m.rank
    FROM members AS m
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
    JOIN placed AS p ON p.job = m.job AND p.collective_id = m.collective_id
    GROUP BY m.lane, m.rank
),
judged AS (
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
    LEFT JOIN recorded AS r ON r.job = x.job AND r.rank = x.rank
),
-- What one rank has and several others lack, though they were being recorded, is its doing.
extra AS MATERIALIZED (
    SELECT j.job, j.collective_id, any_value(j.lane) AS lane, any_value(j.place) AS place
    FROM judged AS j
    WHERE j.rank_count = 1
    GROUP BY j.job, j.collective_id
    HAVING count(*) FILTER (j.cut_at IS NULL) > 1
),
-- What members say who do not agree.
disagreeing AS MATERIALIZED (
    SELECT
        p.job,
        p.lane,
        p.place,
        p.collective_id,
        p.has_names,
        p.has_dtypes,
        p.has_sizes,
        m.rank,
        m.name,
        coalesce(m.dtype, 'none') AS dtype,
        coalesce(m.in_nelems::VARCHAR, 'none') || ' in, '
            || coalesce(m.out_nelems::VARCHAR, 'none') || ' out' AS size
    FROM members AS m
    JOIN placed AS p ON p.job = m.job AND p.collective_id = m.collective_id
    WHERE p.has_names OR p.has_dtypes OR p.has_sizes
),
-- Everything that is told run by run: which lane, rank, place and detail.
told AS (
    SELECT job, lane, rank, 'missing_rank' AS reason, place, collective_id, NULL AS detail
    FROM judged
    ANTI JOIN extra USING (job, collective_id)
    WHERE cut_at IS NULL
    UNION ALL
    SELECT x.job, x.lane, m.rank, 'extra_call' AS reason, x.place, x.collective_id, NULL AS detail
    FROM extra AS x
    JOIN in_their_lanes AS m ON m.job = x.job AND m.collective_id = x.collective_id
    UNION ALL
    SELECT job, lane, rank, reason, place, collective_id, said || ' instead of ' || usual AS detail
    FROM (
        SELECT
            *,
            mode(said ORDER BY said) OVER (PARTITION BY job, collective_id, reason) AS usual
        FROM (
            SELECT *, 'other_name' AS reason, name AS said FROM disagreeing WHERE has_names
            UNION ALL
            SELECT *, 'other_dtype' AS reason, dtype AS said FROM disagreeing WHERE has_dtypes
            UNION ALL
            SELECT *, 'other_size' AS reason, size AS said FROM disagreeing WHERE has_sizes
        )
    )
    WHERE said <> usual
    UNION ALL
    SELECT job, lane, rank, 'out_of_order' AS reason, place, collective_id,
        'Seq ' || seq || ' after ' || seq_before AS detail
    FROM (
        SELECT
            m.job,
            m.lane,
            m.rank,
            m.collective_id,
            m.seq,
            max(m.seq) OVER (
                PARTITION BY m.lane, m.rank ORDER BY m.start_ns, m.event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS seq_before
        FROM members AS m
        SEMI JOIN entangled AS e ON e.lane = m.lane
        WHERE m.seq >= 0 AND m.paired_by <> 'order' AND m.collective_id IS NOT NULL
        QUALIFY m.seq < seq_before
    ) AS late
    JOIN placed AS p USING (job, lane, collective_id, seq)
),
runs AS (
    SELECT
        *,
        place - row_number() OVER (PARTITION BY job, lane, rank, reason ORDER BY place) AS run
    FROM told
),
faults AS (
    SELECT
        r.job,
        r.reason,
        r.rank,
        any_value(l.group_id) AS group_id,
        min(r.collective_id) AS collective_id,
        max(r.collective_id) AS last_collective_id,
        count(DISTINCT r.collective_id) AS collective_count,
        coalesce(min(r.detail), 'in its group''s order, ' || min(r.place) || ' to ' || max(r.place))
            AS detail
    FROM runs AS r
    JOIN lanes AS l ON l.lane = r.lane
    GROUP BY r.job, r.reason, r.rank, r.lane, r.run
    UNION ALL
    SELECT
        job,
        'cut_by_window' AS reason,
        rank,
        NULL AS group_id,
        min(collective_id) AS collective_id,
        max(collective_id) AS last_collective_id,
        count(*) AS collective_count,
        CASE cut_at
            WHEN 'start' THEN 'before its first activity'
            ELSE 'after its last activity'
        END AS detail
    FROM judged
    ANTI JOIN extra USING (job, collective_id)
    WHERE cut_at IS NOT NULL
    GROUP BY job, rank, cut_at
    UNION ALL
    SELECT
        g.job,
        'trace_missing' AS reason,
        NULL AS rank,
        g.group_id,
        min(p.collective_id) AS collective_id,
        max(p.collective_id) AS last_collective_id,
        count(*) AS collective_count,
        'no trace of rank ' || array_to_string(any_value(w.ranks), ', ') AS detail
    FROM groups AS g
    JOIN (
        SELECT group_id, list(rank ORDER BY rank) AS ranks
        FROM (SELECT job, group_id, unnest(ranks) AS rank FROM groups) AS r
        ANTI JOIN traced AS t ON t.job = r.job AND t.rank = r.rank
        GROUP BY group_id
    ) AS w ON w.group_id = g.group_id
    JOIN placed AS p ON p.group_id = g.group_id
    WHERE g.job IN (SELECT job FROM traced)
    GROUP BY g.job, g.group_id
    UNION ALL
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
    FROM members AS m
    JOIN groups AS g ON g.group_id = m.group_id
    WHERE m.collective_id IS NULL
      AND m.job IN (SELECT job FROM traced)
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
    FROM members AS m
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
    FROM members AS m
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
    FROM members AS m
    JOIN (
        SELECT job, rank, event_id
        FROM collective_calls(only_jobs)
        WHERE collective_operation(name) = 'all_to_all'
          AND contains(in_split_sizes || out_split_sizes, '...')
    ) AS c ON c.job = m.job AND c.rank = m.rank AND c.event_id = m.event_id
    WHERE m.collective_id IS NOT NULL AND m.operation = 'all_to_all'
    GROUP BY m.job, m.group_id
),
numbered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY job ORDER BY reason, rank, group_id, collective_id, detail
        ) AS finding
    FROM faults
)
SELECT
    f.job,
    f.finding,
    f.reason,
    f.rank,
    g.group_number AS group_id,
    g.process_group,
    p.name,
    f.collective_id,
    f.last_collective_id,
    f.collective_count,
    f.detail
FROM numbered AS f
LEFT JOIN groups AS g ON g.group_id = f.group_id
LEFT JOIN placed AS p ON p.job = f.job AND p.collective_id = f.collective_id
WHERE (only_ranks IS NULL OR f.rank IS NULL OR list_contains(only_ranks, f.rank))
ORDER BY f.job, f.finding;
