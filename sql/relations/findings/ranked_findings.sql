-- The findings of all rules, each with its gain for the job, its severity, and what shows more.
--
-- `found`: rows of all rules: rule, job, rank, topic, subject, title, evidence, numbers, gain_ns,
--   gain_method, confidence, advice and see.
-- `scopes`: rows of shared_scopes.
--
-- Rows with the same job, rule and topic are one finding, as far as their gains are alike: rows
-- below half of the largest gain are a finding of their own. If more than half of the job's ranks
-- have it, the finding has one row, with a NULL rank and the figures of the rank that bounds the
-- job, or else of the rank with the largest gain. If fewer ranks have it, each rank has a row.
--
-- A step of the job takes as long as its slowest rank. In communication, the other ranks wait for
-- that rank. So what one rank gains is not always a gain of the job:
--
--   * On the rank that bounds the job, a gain counts until another rank bounds the job: at most the
--     difference between the least wait_ns of the ranks without the finding and its own.
--   * On another rank, a gain counts only as far as it exceeds the time that this rank waits longer
--     than the bounding rank.
--   * A rank without a gain (NULL) and a rule that measures the job (is_of_job) stay as they are.
--
-- Returns the columns of findings.
--
-- A finding whose own gain is below `least_frac` is left out.
--
-- reads: humane_ns, limit_of
CREATE OR REPLACE MACRO ranked_findings(found, scopes) AS TABLE
WITH
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
        s.wait_ns,
        s.is_bounding,
        s.unit,
        s.unit_count
    FROM query_table(found) AS f
    JOIN query_table(scopes) AS s ON s.job = f.job AND s.rank = f.rank
),
topics AS (
    SELECT
        job,
        rule,
        topic,
        count(DISTINCT rank) AS shown_count,
        list(DISTINCT rank ORDER BY rank) AS ranks,
        min(wait_ns) AS least_wait_ns
    FROM placed
    GROUP BY job, rule, topic
),
-- What the ranks without the finding wait at least. NULL if all ranks have it.
others AS (
    SELECT t.job, t.rule, t.topic, min(s.wait_ns) AS other_wait_ns
    FROM topics AS t
    JOIN query_table(scopes) AS s ON s.job = t.job AND NOT list_contains(t.ranks, s.rank)
    GROUP BY t.job, t.rule, t.topic
),
bounds AS (
    SELECT
        job,
        min(wait_ns) AS bounding_wait_ns,
        min(unit_ns) FILTER (is_bounding) AS unit_ns
    FROM query_table(scopes)
    GROUP BY job
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
            WHEN o.other_wait_ns IS NULL THEN p.gain_ns
            WHEN p.wait_ns <= o.other_wait_ns
            THEN least(p.gain_ns, o.other_wait_ns - p.wait_ns)
            ELSE greatest(0, p.gain_ns - (p.wait_ns - b.bounding_wait_ns))
        END AS gain_ns
    FROM placed AS p
    JOIN topics AS t
        ON t.job = p.job AND t.rule = p.rule AND t.topic = p.topic
    LEFT JOIN others AS o
        ON o.job = p.job AND o.rule = p.rule AND o.topic = p.topic
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
