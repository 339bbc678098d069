-- The findings of all rules, each with its gain for the job, its severity, and what shows more.
--
-- `found`: rows of all rules: rule, job, rank, topic, subject, title, evidence, numbers, gain_ns,
--   gain_method, confidence, advice and see.
-- `scopes`: rows of shared_scopes.
-- `comm_ranks`: rows of shared_comm_ranks.
--
-- Rows with the same job, rule and topic are one finding, as far as their gains are alike: rows
-- below half of the largest gain are a finding of their own. If more than half of the job's ranks
-- have it, the finding has one row, with a NULL rank and the figures of the rank that bounds the
-- job, or else of the rank with the largest gain. If fewer ranks have it, each rank has a row.
--
-- A step of the job takes as long as its slowest rank. In communication, the other ranks wait for
-- that rank. So what one rank gains is a gain of the job only as far as each rank without the
-- finding waits: its wait_ns, less the part in which it transfers itself. This part is at most that
-- of the rank with the finding, since they transfer together. A rank without a gain (NULL) and a
-- rule that measures the job (is_of_job) stay as they are. So do ranks that do not communicate, as
-- those of a service: none waits for another.
--
-- Returns the columns of findings.
--
-- A finding whose own gain is below `least_frac` is left out.
--
-- reads: humane_ns, limit_of
CREATE OR REPLACE MACRO ranked_findings(found, scopes, comm_ranks) AS TABLE
WITH
ranks AS MATERIALIZED (
    SELECT
        s.*,
        s.wait_ns - coalesce(c.waited_ns, 0) AS moved_ns,
        c.rank IS NOT NULL AS is_communicating
    FROM query_table(scopes) AS s
    LEFT JOIN query_table(comm_ranks) AS c ON c.job = s.job AND c.rank = s.rank
),
placed AS MATERIALIZED (
    SELECT
        f.* EXCLUDE (topic),
        concat_ws(
            ' ',
            coalesce(f.topic, ''),
            CASE
                WHEN 2 * f.gain_ns < max(f.gain_ns) OVER (PARTITION BY f.job, f.rule, f.topic)
                THEN 'less'
            END
        ) AS topic,
        s.rank_count,
        s.moved_ns,
        s.is_bounding,
        s.unit,
        s.unit_count
    FROM query_table(found) AS f
    JOIN ranks AS s ON s.job = f.job AND s.rank = f.rank
),
topics AS (
    SELECT
        job,
        rule,
        topic,
        count(DISTINCT rank) AS shown_count,
        list(DISTINCT rank ORDER BY rank) AS ranks
    FROM placed
    GROUP BY job, rule, topic
),
-- What the other ranks wait at least. No row if all of them have the finding, too.
others AS (
    SELECT
        p.job,
        p.rule,
        p.topic,
        p.rank,
        min(s.wait_ns - least(s.moved_ns, p.moved_ns)) AS other_wait_ns
    FROM placed AS p
    JOIN topics AS t ON t.job = p.job AND t.rule = p.rule AND t.topic = p.topic
    JOIN ranks AS s ON s.job = p.job AND NOT list_contains(t.ranks, s.rank)
    WHERE s.is_communicating
    GROUP BY p.job, p.rule, p.topic, p.rank
),
bounds AS (
    SELECT job, unit_ns
    FROM ranks
    WHERE is_bounding
),
gained AS (
    SELECT
        p.* EXCLUDE (gain_ns),
        p.gain_ns AS own_gain_ns,
        t.shown_count,
        t.ranks,
        b.unit_ns,
        2 * t.shown_count > p.rank_count AND p.rank_count > 1 AS is_common,
        CASE
            WHEN p.gain_ns IS NULL OR p.is_of_job THEN p.gain_ns
            ELSE least(p.gain_ns, coalesce(o.other_wait_ns, p.gain_ns))
        END AS gain_ns
    FROM placed AS p
    JOIN topics AS t
        ON t.job = p.job AND t.rule = p.rule AND t.topic = p.topic
    LEFT JOIN others AS o
        ON o.job = p.job AND o.rule = p.rule AND o.topic = p.topic AND o.rank = p.rank
    JOIN bounds AS b ON b.job = p.job
),
chosen AS (
    SELECT *
    FROM gained
    QUALIFY NOT is_common OR row_number() OVER (
        PARTITION BY job, rule, topic ORDER BY is_bounding DESC, gain_ns DESC, rank
    ) = 1
),
measured AS (
    SELECT
        *,
        gain_ns / nullif(unit_ns, 0) AS gain_frac,
        own_gain_ns / nullif(unit_ns, 0) AS own_gain_frac
    FROM chosen
)
SELECT
    m.job,
    CASE WHEN NOT m.is_common THEN m.rank END AS rank,
    m.rule,
    coalesce(m.subject, m.rule) AS subject,
    CASE
        WHEN m.gain_frac >= limit_of('all', 'high_frac') THEN 'high'
        WHEN m.gain_frac >= limit_of('all', 'medium_frac') THEN 'medium'
        WHEN m.gain_frac >= limit_of('all', 'low_frac') THEN 'low'
        ELSE 'info'
    END AS severity,
    m.title,
    m.evidence || CASE
        WHEN 2 * m.gain_ns < m.own_gain_ns
        THEN ' Another rank is slower, so that the job gains only ' || humane_ns(m.gain_ns) || '.'
        ELSE ''
    END AS evidence,
    json_merge_patch(
        m.numbers::JSON,
        json_object('ranks', CASE WHEN m.is_common THEN m.ranks ELSE [m.rank] END)
    )::VARCHAR AS evidence_numbers,
    m.gain_ns AS estimated_gain_ns,
    m.gain_frac AS estimated_gain_frac,
    m.unit AS gain_unit,
    CASE WHEN m.gain_ns IS NOT NULL THEN m.gain_method END AS gain_method,
    m.confidence,
    m.advice,
    concat(
        'hta-sql run ',
        regexp_replace(m.see, '^\w+', '\0 ARCHIVE'),
        ' --only-jobs ',
        CASE
            WHEN regexp_full_match(m.job, '[A-Za-z0-9_.+-]+') THEN m.job
            ELSE '''' || replace(m.job, '''', '''\''''') || ''''
        END,
        CASE WHEN m.rank_count > 1 THEN ' --only-ranks ' || m.rank ELSE '' END
    ) AS see
FROM measured AS m
WHERE m.gain_ns IS NULL OR m.own_gain_frac >= limit_of('all', 'least_frac');
