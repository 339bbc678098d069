-- How often each rank is last, what that costs, and which are stragglers.
--
-- In each all-reduce, all-gather, reduce-scatter, all-to-all or barrier, the rank with the shortest
-- duration came last. The durations of the other ranks show how long they waited for the last rank.
-- The query leaves out collectives with a root, because not all of their members wait for one rank.
-- Messages count only in wait_ns and own_delay_ns.
--
-- In each collective, some rank is last. A rank is a straggler only if all three conditions hold:
--   * It is last too often: z_score is at least 3. If the n members of a collective are equally
--     fast, each of them is last in 1/n of the collectives. z_score is the number of standard
--     deviations by which last_count exceeds this expected count. A z_score of 3 is almost never
--     chance.
--   * It is costly: `score` is at least `min_score`.
--   * It causes the delay itself: own_delay_ns is positive and at least half of delay_ns. Otherwise
--     the rank is late mainly because it waited itself, for example in another process group.
--     straggler_blame follows a delay from collective to collective.
--
-- `score` is how much of the other ranks' time is lost in exposed waits for this rank:
--
--     score = caused_exposed_wait_ns / sum of the other ranks' spans
--
-- A rank's span lasts from the start of its first activity to the end of its last. If only_steps is
-- given, only the activities of these steps count.
--
-- If the trace rounds durations to whole microseconds, several ranks can have the shortest
-- duration. A hash of collective and rank then picks the last rank, so that rank numbers do not
-- matter.
--
-- HTA's get_potential_stragglers uses another method:
--   * It chooses the NCCL kernel whose duration differs most between ranks. It then picks the
--     num_candidates ranks on which this kernel starts last, even if no rank waits for them.
--   * It recognises NCCL kernels by the names that they had before 2023. With newer names, it
--     finds none of them and fails.
--
-- since: 0.1
-- grain: job, rank
-- needs: collectives, ranks
-- returns:
--   job                     VARCHAR  -      run of a program
--   rank                    INTEGER  -      rank of the process
--   host                    VARCHAR  -      machine of the rank, if its trace names it
--   position                BIGINT   -      position in the job, from 1: first the ranks that cause
--                                           the delay themselves, then the other ranks, both with
--                                           the highest score first
--   collective_count        BIGINT   count  collectives of these kinds that the rank took part in
--   last_count              BIGINT   count  collectives to which the rank came last, while
--                                           other ranks waited
--   last_frac               DOUBLE   0-1    last_count / collective_count
--   z_score                 DOUBLE   -      standard deviations by which last_count exceeds chance
--   caused_wait_ns          BIGINT   ns     sum of the other ranks' waits for this rank
--   caused_exposed_wait_ns  BIGINT   ns     part of caused_wait_ns without computation on the
--                                           waiting ranks' devices; NULL in archives that an
--                                           earlier hta_sql wrote
--   delay_ns                BIGINT   ns     delay that the rank caused: in each collective to which
--                                           it came last, the mean wait of the other ranks; added
--                                           up over these collectives
--   wait_ns                 BIGINT   ns     the rank's own waits for other ranks, in all
--                                           collectives and messages that count
--   own_delay_ns            BIGINT   ns     delay that does not come from waits: in each step, the
--                                           step's delay_ns minus its wait_ns, or 0 if this is
--                                           negative; added up over steps. Time outside steps
--                                           counts as one step
--   score                   DOUBLE   -      share of the other ranks' time in which they wait for
--                                           this rank and do not compute, as above; NULL if
--                                           caused_exposed_wait_ns is NULL
--   is_straggler            BOOLEAN  -      whether the rank is last too often, is costly, and
--                                           causes the delay itself
-- check: last_count BETWEEN 0 AND collective_count
-- check: caused_exposed_wait_ns BETWEEN 0 AND caused_wait_ns
-- check: delay_ns BETWEEN 0 AND caused_wait_ns
-- check: wait_ns >= 0 AND own_delay_ns BETWEEN 0 AND delay_ns
-- reads: hidden_waits, machines, paired_members, rank_spans, turn_of
CREATE OR REPLACE MACRO stragglers_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to report [default: all]
    only_steps BIGINT[] := NULL,  -- collectives of these steps [default: all]
    min_score DOUBLE := 0.01  -- lowest score of a straggler: share of the other ranks' time
) AS TABLE
WITH
calls AS MATERIALIZED (
    FROM paired_members(only_jobs) AS m
    WHERE m.member_count > 1 AND (m.is_message OR m.ends_together)
),
-- Members may launch a collective in different steps; the collective belongs to the lowest one.
all_collectives AS (
    SELECT
        job,
        collective_id,
        min(step) AS step,
        count(*) AS member_count,
        min({'dur_ns': dur_ns, 'turn': turn_of(collective_id, rank), 'rank': rank}).rank
            AS last_rank,
        sum(wait_ns) AS wait_ns
    FROM calls
    WHERE NOT is_message
    GROUP BY job, collective_id
),
collectives AS MATERIALIZED (
    FROM all_collectives AS c
    WHERE (only_steps IS NULL OR list_contains(only_steps, c.step))
),
members AS MATERIALIZED (
    SELECT
        m.job,
        m.collective_id,
        m.rank,
        m.event_id,
        m.device,
        c.step,
        c.member_count,
        m.start_ns,
        m.dur_ns,
        m.wait_ns,
        m.computed_before_ns,
        m.hidden_ns
    FROM calls AS m
    JOIN collectives AS c ON c.job = m.job AND c.collective_id = m.collective_id
    WHERE NOT m.is_message
),
-- NULL if the hidden part of any wait is not known.
exposed AS (
    SELECT
        job,
        collective_id,
        CASE
            WHEN count(hidden_wait_ns) = count(*) THEN sum(wait_ns - hidden_wait_ns)
        END AS exposed_wait_ns
    FROM hidden_waits(members, only_jobs, NULL)
    GROUP BY job, collective_id
),
-- wait_ns includes waits for messages.
parts AS (
    SELECT job, rank, step, member_count, wait_ns
    FROM members
    UNION ALL
    SELECT job, rank, step, NULL AS member_count, wait_ns
    FROM calls
    WHERE is_message AND (only_steps IS NULL OR list_contains(only_steps, step))
),
in_steps AS (
    SELECT
        m.job,
        m.rank,
        m.step,
        count(m.member_count) AS collective_count,
        -- Integer multiples of 1e-12, so that the sum does not depend on the order of addition.
        sum(round(1e12 / m.member_count)::BIGINT) AS expected_count,
        sum(round(1e12 / m.member_count * (1 - 1 / m.member_count))::BIGINT) AS variance,
        sum(m.wait_ns) AS wait_ns
    FROM parts AS m
    GROUP BY m.job, m.rank, m.step
),
last_in_steps AS (
    SELECT
        c.job,
        c.last_rank AS rank,
        c.step,
        count(*) AS last_count,
        sum(c.wait_ns) AS caused_wait_ns,
        CASE
            WHEN count(e.exposed_wait_ns) = count(*) THEN sum(e.exposed_wait_ns)
        END AS caused_exposed_wait_ns,
        sum(c.wait_ns // (c.member_count - 1)) AS delay_ns
    FROM collectives AS c
    JOIN exposed AS e ON e.job = c.job AND e.collective_id = c.collective_id
    WHERE c.wait_ns > 0
    GROUP BY c.job, c.last_rank, c.step
),
of_ranks AS (
    SELECT
        t.job,
        t.rank,
        sum(t.collective_count)::BIGINT AS collective_count,
        sum(t.expected_count) / 1e12 AS expected_count,
        sum(t.variance) / 1e12 AS variance,
        sum(t.wait_ns)::BIGINT AS wait_ns,
        coalesce(sum(l.last_count), 0)::BIGINT AS last_count,
        coalesce(sum(l.caused_wait_ns), 0)::BIGINT AS caused_wait_ns,
        CASE
            WHEN count(l.caused_exposed_wait_ns) = count(l.last_count)
            THEN coalesce(sum(l.caused_exposed_wait_ns), 0)::BIGINT
        END AS caused_exposed_wait_ns,
        coalesce(sum(l.delay_ns), 0)::BIGINT AS delay_ns,
        coalesce(sum(greatest(0, l.delay_ns - t.wait_ns)), 0)::BIGINT AS own_delay_ns
    FROM in_steps AS t
    LEFT JOIN last_in_steps AS l
        ON l.job = t.job AND l.rank = t.rank AND l.step IS NOT DISTINCT FROM t.step
    GROUP BY t.job, t.rank
    HAVING sum(t.collective_count) > 0
),
measured AS (
    SELECT
        t.*,
        h.host,
        (t.last_count - t.expected_count) / sqrt(nullif(t.variance, 0)) AS z_score,
        t.caused_exposed_wait_ns
            / nullif(sum(r.span_ns) OVER (PARTITION BY t.job) - coalesce(r.span_ns, 0), 0)
            AS score,
        t.own_delay_ns > 0 AND 2 * t.own_delay_ns >= t.delay_ns AS is_by_itself
    FROM of_ranks AS t
    LEFT JOIN rank_spans(only_jobs, only_steps) AS r ON r.job = t.job AND r.rank = t.rank
    LEFT JOIN machines(only_jobs) AS h ON h.job = t.job AND h.rank = t.rank
),
placed AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY job
            ORDER BY is_by_itself DESC, score DESC NULLS LAST, caused_wait_ns DESC, rank
        ) AS position
    FROM measured
)
SELECT
    p.job,
    p.rank,
    p.host,
    p.position,
    p.collective_count,
    p.last_count,
    p.last_count / p.collective_count AS last_frac,
    p.z_score,
    p.caused_wait_ns,
    p.caused_exposed_wait_ns,
    p.delay_ns,
    p.wait_ns,
    p.own_delay_ns,
    p.score,
    coalesce(p.z_score >= 3 AND p.score >= min_score AND p.is_by_itself, false) AS is_straggler
FROM placed AS p
WHERE (only_ranks IS NULL OR list_contains(only_ranks, p.rank))
ORDER BY p.job, p.rank;
