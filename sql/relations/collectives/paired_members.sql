-- Collectives and messages between ranks: which calls of different ranks belong together.
--
-- `jobs` are the jobs to look at; NULL means all.

-- The kernels by which ranks speak with each other: those to which the profiler adds the arguments
-- of a collective, a send or a receive.
CREATE OR REPLACE MACRO collective_calls(jobs) AS TABLE
SELECT
    a.job,
    a.rank,
    a.event_id,
    a.device,
    a.step,
    a.start_ns,
    a.dur_ns,
    a.computed_before_ns,
    a.hidden_ns,
    a.collective_name AS name,
    a.dtype,
    a.in_nelems,
    a.out_nelems,
    a.in_split_sizes,
    a.out_split_sizes,
    a.process_group_name AS process_group,
    a.process_group_desc,
    a.group_size,
    a.process_group_ranks AS ranks_text,
    a.group_start_rank,
    a.group_stride,
    a.src_rank,
    a.dst_rank,
    a.seq,
    a.comms_id
FROM gpu_activities AS a
WHERE a.collective_name <> ''
  AND a.kind = 'communication'
  AND (jobs IS NULL OR list_contains(jobs, a.job));

-- What is text in them, or says what they do: once for all calls of a rank that look the same.
CREATE OR REPLACE MACRO call_kinds(jobs) AS TABLE
SELECT
    job,
    rank,
    process_group,
    process_group_desc,
    group_size,
    ranks_text,
    src_rank,
    dst_rank,
    name,
    dtype,
    in_nelems,
    out_nelems,
    min(group_start_rank) AS group_start_rank,
    min(group_stride) AS group_stride,
    bool_and(comms_id IS NOT NULL) AS has_comms_id,
    bool_and(seq IS NOT NULL AND seq >= 0) AS has_seq
FROM collective_calls(jobs)
GROUP BY ALL;

-- The process groups that traces declare in their header, `distributedInfo`. Ranks are a list
-- there, or the text of one; NULL where that is cut short.
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

-- The process groups in which ranks speak with each other, with all their members.
--
-- `kinds` are rows of call_kinds. Gives one row for each job and each way in which its traces
-- describe a group: process_group, process_group_desc, group_size and ranks_text as there, and
--
--     group_id      equal for equal groups of a job, and only for these
--     group_number  the same, from 1 in each job, in order of names and members
--     ranks         its members, sorted by their place in the group; NULL where no trace tells
--     ranks_source  what tells them: trace, distributedInfo, start and stride, first and last ranks
--                   or world size
--     is_ambiguous  several groups may be behind the description, as they have more ranks than one
--
-- A group's name is not enough: groups that are made together may share it. Its list of ranks is
-- shortened by the profiler, to `[0, 8, 16, ..., 504]`. What rebuilds it has to agree with what is
-- left of it.
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
-- By preference, the first that agrees counts.
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
        list_transform(range(group_size), lambda i: (start_rank + i * stride)::INTEGER) AS ranks
    FROM read
    WHERE stride > 0 AND start_rank >= 0 AND group_size BETWEEN 1 AND 1000000
    UNION ALL BY NAME
    SELECT
        read.*,
        4 AS preference,
        'first and last ranks' AS source,
        list_transform(
            range(group_size),
            lambda i: (first_ranks[1] + i * (first_ranks[2] - first_ranks[1]))::INTEGER
        ) AS ranks
    FROM read
    WHERE is_cut AND last_rank IS NOT NULL AND len(first_ranks) > 1
      AND group_size BETWEEN 1 AND 1000000
    UNION ALL BY NAME
    SELECT read.*, 5 AS preference, 'world size' AS source, range(world_size)::INTEGER[] AS ranks
    FROM read
    JOIN sizes USING (job)
    WHERE NOT is_cut IS TRUE AND coalesce(len(first_ranks), 0) = 0 AND group_size = world_size
),
settled AS (
    SELECT
        job,
        process_group,
        process_group_desc,
        group_size,
        ranks_text,
        -- Of several equally good ones the least, so that no order of rows decides.
        min({'preference': preference, 'source': source, 'ranks': ranks}) AS best
    FROM candidates
    WHERE (group_size IS NULL OR len(ranks) = group_size)
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

-- Which calls belong together by their order alone.
--
-- `calls` needs lane, rank, event_id, step, start_ns, end_ns, name and signature, which is what
-- calls that belong together have in common. Gives lane, rank, event_id, and of the call of one
-- rank, the model, to which it belongs, model_rank and model_event_id; calls with none are left
-- out.
--
-- Steps that all ranks have cut a lane in segments. In each, the model is the rank with most calls;
-- another one may lack a single stretch of them, as where its window is cut:
--
--     model   A  B  B  C  A  B  B  C
--     other            C  A  B  B  C     lacks 3: 0 from the front, 5 from the back
--
-- The front of its calls is the model's by position from the front, the rest from the back. Where
-- both fit in several ways, it is cut where the ends of calls are most steadily apart: clocks may
-- be apart, but do not jump. A rank with as many calls as the model, of which some do not fit, has
-- others there, which belong to the model's if their names do; one that fits in no way has no
-- pairs.
-- Where several ranks lack several stretches of one segment, pairs by order may be wrong: only ids
-- tell them then.
CREATE OR REPLACE MACRO order_pairs(calls) AS TABLE
WITH
lanes AS MATERIALIZED (
    SELECT
        lane,
        count(DISTINCT rank) = count(DISTINCT rank) FILTER (step IS NOT NULL) AS has_steps
    FROM query_table(calls)
    GROUP BY lane
),
in_segments AS MATERIALIZED (
    SELECT
        c.lane,
        CASE WHEN lanes.has_steps THEN coalesce(c.step, -1) ELSE -1 END AS segment,
        c.rank,
        c.event_id,
        c.start_ns,
        c.end_ns,
        c.name,
        c.signature
    FROM query_table(calls) AS c
    JOIN lanes ON lanes.lane = c.lane
),
positions AS MATERIALIZED (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY lane, segment, rank ORDER BY start_ns, event_id
        ) - 1 AS position
    FROM in_segments
),
places AS MATERIALIZED (
    SELECT
        lane,
        segment,
        position,
        min(rank) AS first_rank,
        arg_min(event_id, rank) AS first_event_id,
        count(*) AS rank_count,
        min(signature) <> max(signature) AS differs
    FROM positions
    GROUP BY lane, segment, position
),
-- Where all ranks have as many calls that look the same, the order is all there is to see.
segments AS MATERIALIZED (
    SELECT
        row_number() OVER () AS segment_id,
        lane,
        segment,
        bool_or(differs) OR min(rank_count) <> max(rank_count) AS is_odd
    FROM places
    GROUP BY lane, segment
),
even_places AS MATERIALIZED (
    SELECT p.lane, p.segment, p.position, p.first_rank, p.first_event_id
    FROM places AS p
    JOIN segments AS s ON s.lane = p.lane AND s.segment = p.segment
    WHERE NOT s.is_odd
),
odd_calls AS MATERIALIZED (
    SELECT s.segment_id, p.*
    FROM positions AS p
    JOIN segments AS s ON s.lane = p.lane AND s.segment = p.segment
    WHERE s.is_odd
),
call_counts AS (
    SELECT segment_id, rank, count(*) AS call_count
    FROM odd_calls
    GROUP BY segment_id, rank
),
models AS MATERIALIZED (
    SELECT
        segment_id,
        max(call_count) AS model_count,
        arg_max(rank, {'calls': call_count, 'first': -rank}) AS model_rank
    FROM call_counts
    GROUP BY segment_id
),
counted AS MATERIALIZED (
    SELECT n.segment_id, n.rank, n.call_count, m.model_rank, m.model_count - n.call_count AS lacking
    FROM call_counts AS n
    JOIN models AS m ON m.segment_id = n.segment_id
),
with_counts AS MATERIALIZED (
    SELECT o.*, n.call_count, n.model_rank, n.lacking, o.position + n.lacking AS back_position
    FROM odd_calls AS o
    JOIN counted AS n ON n.segment_id = o.segment_id AND n.rank = o.rank
),
model_calls AS MATERIALIZED (
    SELECT segment_id, position, event_id, end_ns, name, signature
    FROM with_counts
    WHERE rank = model_rank
),
with_fronts AS MATERIALIZED (
    SELECT
        c.*,
        f.event_id AS front_id,
        f.signature = c.signature AS fits_front,
        f.name = c.name AS is_namesake,
        c.end_ns - f.end_ns AS front_apart_ns
    FROM with_counts AS c
    JOIN model_calls AS f ON f.segment_id = c.segment_id AND f.position = c.position
),
-- Who lacks none has but one way to fit.
compared AS MATERIALIZED (
    SELECT
        c.*,
        b.event_id AS back_id,
        b.signature = c.signature AS fits_back,
        c.end_ns - b.end_ns AS back_apart_ns
    FROM with_fronts AS c
    JOIN model_calls AS b ON b.segment_id = c.segment_id AND b.position = c.back_position
    WHERE c.lacking > 0
),
-- How much the clocks would jump from each call to the next one.
jumps AS (
    SELECT
        *,
        abs(front_apart_ns - lag(front_apart_ns) OVER in_order) AS front_jump_ns,
        abs(back_apart_ns - lag(back_apart_ns) OVER in_order) AS back_jump_ns,
        abs(back_apart_ns - lag(front_apart_ns) OVER in_order) AS cut_jump_ns
    FROM compared
    WINDOW in_order AS (PARTITION BY segment_id, rank ORDER BY position)
),
-- The cut is before `position`: the sum of jumps in front of it, at it, and from it on.
cuts AS MATERIALIZED (
    SELECT
        *,
        coalesce(sum(front_jump_ns) OVER before_it, 0)
            + coalesce(cut_jump_ns, 0)
            + coalesce(sum(back_jump_ns) OVER behind_it, 0) AS jump_ns,
        min(position) FILTER (NOT fits_front) OVER all_of_it AS misfit_in_front,
        max(position) FILTER (NOT fits_back) OVER all_of_it AS misfit_at_back
    FROM jumps
    WINDOW
        before_it AS (
            PARTITION BY segment_id, rank ORDER BY position
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        behind_it AS (
            PARTITION BY segment_id, rank ORDER BY position
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ),
        all_of_it AS (PARTITION BY segment_id, rank)
),
best_cuts AS (
    SELECT
        segment_id,
        rank,
        arg_min(position, {'jump_ns': jump_ns, 'position': position}) FILTER (
            position <= coalesce(misfit_in_front, call_count)
            AND position > coalesce(misfit_at_back, -1)
        ) AS cut_at,
        -- Behind the last call: the model only has more of them at its end.
        any_value(misfit_in_front) IS NULL AS may_lack_the_end,
        min(jump_ns) FILTER (
            position <= coalesce(misfit_in_front, call_count)
            AND position > coalesce(misfit_at_back, -1)
        ) AS jump_ns,
        coalesce(sum(front_jump_ns), 0) AS end_jump_ns
    FROM cuts
    GROUP BY segment_id, rank
)
SELECT p.lane, p.rank, p.event_id, e.first_rank AS model_rank, e.first_event_id AS model_event_id
FROM positions AS p
JOIN even_places AS e
    ON e.lane = p.lane AND e.segment = p.segment AND e.position = p.position
UNION ALL
SELECT lane, rank, event_id, model_rank, front_id AS model_event_id
FROM with_fronts
WHERE lacking = 0 AND (fits_front OR is_namesake)
UNION ALL
SELECT
    c.lane,
    c.rank,
    c.event_id,
    c.model_rank,
    CASE
        WHEN b.may_lack_the_end AND (b.cut_at IS NULL OR b.end_jump_ns < b.jump_ns)
        THEN c.front_id
        WHEN c.position < b.cut_at
        THEN c.front_id
        ELSE c.back_id
    END AS model_event_id
FROM cuts AS c
JOIN best_cuts AS b ON b.segment_id = c.segment_id AND b.rank = c.rank
WHERE b.cut_at IS NOT NULL OR b.may_lack_the_end;

-- Each call with its group_id, and
--
--     lane           number of its group, or of sender and receiver in a group
--     collective_id  equal on the calls that belong together; 1, 2, ... in a job, by when the first
--                    of them began. NULL: a call of a group or peer that is not known
--     paired_by      comms_id, seq or order
--     is_message     of a send and a receive, not of a collective
--     ends_together  all members leave it together, as ends_together says of what each calls it;
--                    false for messages and calls with none
--     member_count   calls that belong together
--     transfer_ns    the shortest one's duration: nobody of them waited then for another
--     wait_ns        its own duration past that
--
-- Within a group of ranks, calls belong together
--   1. by the `Comms Id` that the profiler gives them, where all calls of the group have one;
--   2. else by the `Seq` of the group;
--   3. else by order, as order_pairs says.
-- The id is a hash of 64 bits and holds within a group only. Where it comes several times on a
-- rank, as one call may launch several kernels, the first belongs to the first, the second to the
-- second.
--
-- Sends and receives are a lane for each sender and receiver in a group. Their ids count what a
-- rank sent and received, whoever the peer was: equal on both sides in groups of two only.
CREATE OR REPLACE MACRO paired_members(jobs) AS TABLE
WITH
plain_kinds AS MATERIALIZED (
    FROM call_kinds(jobs)
),
groups AS MATERIALIZED (
    FROM known_groups(plain_kinds, jobs)
),
kinds_of_groups AS (
    SELECT
        row_number() OVER () AS kind_id,
        k.*,
        g.group_id,
        g.member_total,
        collective_operation(k.name) AS operation,
        is_point_to_point(operation) AS is_message,
        ends_together(operation) AS ends_together,
        CASE
            WHEN g.is_ambiguous THEN NULL
            WHEN NOT is_message THEN g.group_id << 40
            -- Ranks below 2^20. A send tells its receiver, a receive its sender.
            WHEN operation = 'send'
            THEN (g.group_id << 40) + ((k.rank + 1)::BIGINT << 20) + k.dst_rank + 1
            ELSE (g.group_id << 40) + ((k.src_rank + 1) << 20) + k.rank + 1
        END AS lane,
        CASE
            WHEN is_message THEN hash(k.dtype, greatest(k.in_nelems, k.out_nelems))
            WHEN sizes_agree(k.name) THEN hash(k.name, k.dtype, k.in_nelems, k.out_nelems)
            ELSE hash(k.name, k.dtype)
        END AS signature
    FROM plain_kinds AS k
    JOIN groups AS g
        ON g.job = k.job
        AND g.process_group IS NOT DISTINCT FROM k.process_group
        AND g.process_group_desc IS NOT DISTINCT FROM k.process_group_desc
        AND g.group_size IS NOT DISTINCT FROM k.group_size
        AND g.ranks_text IS NOT DISTINCT FROM k.ranks_text
),
kinds AS MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN lane IS NULL THEN NULL
            WHEN is_message AND member_total IS DISTINCT FROM 2 THEN 'order'
            WHEN bool_and(has_comms_id) OVER (PARTITION BY lane) THEN 'comms_id'
            WHEN bool_and(has_seq) OVER (PARTITION BY lane) THEN 'seq'
            ELSE 'order'
        END AS paired_by
    FROM kinds_of_groups
),
in_lanes AS MATERIALIZED (
    SELECT
        k.kind_id,
        k.lane,
        c.rank,
        c.event_id,
        c.device,
        c.step,
        c.start_ns,
        c.dur_ns,
        c.computed_before_ns,
        c.hidden_ns,
        c.seq,
        c.comms_id,
        k.ends_together,
        CASE k.paired_by
            WHEN 'comms_id' THEN c.comms_id
            WHEN 'seq' THEN c.seq::UBIGINT
        END AS told_key
    FROM collective_calls(jobs) AS c
    JOIN kinds AS k
        ON k.job = c.job
        AND k.rank = c.rank
        AND k.name = c.name
        AND k.process_group IS NOT DISTINCT FROM c.process_group
        AND k.process_group_desc IS NOT DISTINCT FROM c.process_group_desc
        AND k.group_size IS NOT DISTINCT FROM c.group_size
        AND k.ranks_text IS NOT DISTINCT FROM c.ranks_text
        AND k.src_rank IS NOT DISTINCT FROM c.src_rank
        AND k.dst_rank IS NOT DISTINCT FROM c.dst_rank
        AND k.dtype IS NOT DISTINCT FROM c.dtype
        AND k.in_nelems IS NOT DISTINCT FROM c.in_nelems
        AND k.out_nelems IS NOT DISTINCT FROM c.out_nelems
),
without_ids AS (
    SELECT
        c.lane,
        c.rank,
        c.event_id,
        c.step,
        c.start_ns,
        c.start_ns + c.dur_ns AS end_ns,
        k.name,
        k.signature
    FROM in_lanes AS c
    JOIN kinds AS k ON k.kind_id = c.kind_id AND k.paired_by = 'order'
),
ordered AS MATERIALIZED (
    FROM order_pairs(without_ids)
),
-- Where one call of a rank may have had several kernels: more calls than ranks, counted modulo 64.
crowded AS (
    SELECT lane, told_key
    FROM in_lanes
    WHERE told_key IS NOT NULL
    GROUP BY lane, told_key
    HAVING count(*) > bit_count(bit_or(1::UBIGINT << (rank % 64)::UBIGINT))
),
repeats AS MATERIALIZED (
    SELECT
        c.lane,
        c.rank,
        c.event_id,
        row_number() OVER (
            PARTITION BY c.lane, c.told_key, c.rank ORDER BY c.start_ns, c.event_id
        ) AS repeat
    FROM in_lanes AS c
    SEMI JOIN crowded ON crowded.lane = c.lane AND crowded.told_key = c.told_key
),
keyed AS NOT MATERIALIZED (
    SELECT
        c.*,
        -- The model's calls by rank and event.
        coalesce(
            c.told_key, ((ordered.model_rank::BIGINT << 40) + ordered.model_event_id)::UBIGINT
        ) AS pair_key,
        coalesce(repeats.repeat, 1) AS repeat
    FROM in_lanes AS c
    LEFT JOIN ordered
        ON ordered.lane = c.lane AND ordered.rank = c.rank AND ordered.event_id = c.event_id
    LEFT JOIN repeats
        ON repeats.lane = c.lane AND repeats.rank = c.rank AND repeats.event_id = c.event_id
),
found AS (
    SELECT
        lane,
        pair_key,
        repeat,
        min(kind_id) AS kind_id,
        min(start_ns) AS first_start_ns,
        count(*) AS member_count,
        min(dur_ns) AS transfer_ns,
        bool_and(ends_together) AS ends_together
    FROM keyed
    WHERE pair_key IS NOT NULL
    GROUP BY lane, pair_key, repeat
),
together AS (
    SELECT
        f.lane,
        f.pair_key,
        f.repeat,
        row_number() OVER (
            PARTITION BY k.job ORDER BY f.first_start_ns, f.lane, f.pair_key, f.repeat
        ) AS collective_id,
        f.member_count,
        f.transfer_ns,
        f.ends_together
    FROM found AS f
    JOIN kinds AS k ON k.kind_id = f.kind_id
)
SELECT
    k.job,
    t.collective_id,
    k.group_id,
    c.lane,
    k.is_message,
    coalesce(t.ends_together, false) AS ends_together,
    c.rank,
    c.event_id,
    c.device,
    c.step,
    c.start_ns,
    c.dur_ns,
    c.start_ns + c.dur_ns AS end_ns,
    c.computed_before_ns,
    c.hidden_ns,
    k.name,
    k.operation,
    k.process_group,
    k.dtype,
    k.in_nelems,
    k.out_nelems,
    c.seq,
    c.comms_id,
    k.paired_by,
    k.member_total,
    t.member_count,
    t.transfer_ns,
    c.dur_ns - t.transfer_ns AS wait_ns
FROM keyed AS c
JOIN kinds AS k ON k.kind_id = c.kind_id
LEFT JOIN together AS t
    ON t.lane = c.lane AND t.pair_key = c.pair_key AND t.repeat = c.repeat;

-- The groups by their ids: job, group_id, group_number, process_group, process_group_desc,
-- group_size, ranks, ranks_source, ranks_text and is_ambiguous; of several descriptions of one
-- group the least.
CREATE OR REPLACE MACRO groups_of_jobs(jobs) AS TABLE
WITH
kinds AS MATERIALIZED (
    FROM call_kinds(jobs)
)
SELECT
    job,
    group_id,
    min(group_number) AS group_number,
    min(process_group) AS process_group,
    min(process_group_desc) AS process_group_desc,
    min(member_total) AS group_size,
    min(ranks) AS ranks,
    min(ranks_source) AS ranks_source,
    min(ranks_text) AS ranks_text,
    bool_or(is_ambiguous) AS is_ambiguous
FROM known_groups(kinds, jobs)
GROUP BY job, group_id;
