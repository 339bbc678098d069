-- Steps that take longer than the typical steps of their rank, and what differs in them.
--
-- `only_jobs`: jobs to look at (NULL: all).
--
-- A step takes as long as from the end of the step before to its own end. It ends when its
-- annotation and its last GPU activity have ended. So a step is not long only because the host,
-- which is ahead of the device, waits in it. The first step of a rank does not count, since nothing
-- says when the device began it. Slow steps are of a kind:
--
--     first  the first steps, if each of them is longer on the host than `warm_up_times` the median
--            of the job's steps
--     long   later steps longer than `long_times` the median of the rank's later steps
--
-- Returns one row per rank and kind, if the rank has such steps, and typical steps, which are
-- neither: job, rank, kind and
--
--     slow_count, slow_ns  slow steps, and their mean duration
--     typical_ns           mean duration of the typical steps
--     step_count, mean_ns, median_ns, p95_ns
--                          of the later steps, long and typical ones
--     own_ns               how much longer the slow steps are without communication that nothing
--                          hides, in which the rank can wait for others
--     cause                what takes most of the difference: host (time without activities),
--                          computation, communication or memory
--     cause_ns             the difference in this time
--     name, name_ns        the kernel, or the innermost span on the host, that takes most of it,
--                          and by how much more per slow step. NULL: none takes half of it
--
-- reads: done_steps, gpu_activities, host_ops, limit_of, step_marks, step_number
CREATE OR REPLACE MACRO shared_slow_steps(only_jobs) AS TABLE
WITH
done AS (
    SELECT
        job,
        rank,
        step,
        step_ns AS host_ns,
        done_ns,
        before_ns,
        median(step_ns) OVER (PARTITION BY job) AS usual_ns
    FROM done_steps(only_jobs)
),
timed AS (
    SELECT
        *,
        coalesce(done_ns - before_ns, host_ns) AS step_ns,
        row_number() OVER in_order = 1 AS is_begin,
        bool_and(host_ns > limit_of('all', 'warm_up_times') * usual_ns) OVER in_order AS is_first
    FROM done
    WINDOW in_order AS (PARTITION BY job, rank ORDER BY step ROWS UNBOUNDED PRECEDING)
),
usual AS (
    SELECT
        job,
        rank,
        count(*) AS step_count,
        avg(step_ns) AS mean_ns,
        median(step_ns) AS median_ns,
        quantile_cont(step_ns, 0.95) AS p95_ns
    FROM timed
    WHERE NOT is_begin AND NOT is_first
    GROUP BY job, rank
),
kinds AS MATERIALIZED (
    SELECT
        s.job,
        s.rank,
        s.step,
        CASE WHEN s.is_first THEN s.host_ns ELSE s.step_ns END AS step_ns,
        u.step_count,
        u.mean_ns,
        u.median_ns,
        u.p95_ns,
        CASE
            WHEN s.is_first THEN 'first'
            WHEN s.step_ns > limit_of('step_variance', 'long_times') * u.median_ns THEN 'long'
            ELSE 'typical'
        END AS kind
    FROM timed AS s
    JOIN usual AS u ON u.job = s.job AND u.rank = s.rank
    WHERE s.is_first OR NOT s.is_begin
),
-- Only ranks with slow and with typical steps.
marked AS MATERIALIZED (
    SELECT k.*
    FROM kinds AS k
    SEMI JOIN kinds AS s ON s.job = k.job AND s.rank = k.rank AND s.kind <> 'typical'
    SEMI JOIN kinds AS t ON t.job = k.job AND t.rank = k.rank AND t.kind = 'typical'
),
times AS MATERIALIZED (
    SELECT
        k.job,
        k.rank,
        k.kind AS step_kind,
        a.kind AS cause,
        a.short_name AS name,
        0 AS depth,
        sum(CASE WHEN a.kind = 'computation' THEN a.dur_ns ELSE a.dur_ns - a.hidden_ns END) AS ns
    FROM gpu_activities AS a
    JOIN marked AS k ON k.job = a.job AND k.rank = a.rank AND k.step = a.step
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
    GROUP BY ALL
    UNION ALL
    SELECT k.job, k.rank, k.kind, 'host', h.name, max(h.depth), sum(h.dur_ns)
    FROM host_ops AS h
    JOIN marked AS k ON k.job = h.job AND k.rank = h.rank AND k.step = h.step
    ANTI JOIN step_marks AS m
        ON m.job = h.job AND m.rank = h.rank AND m.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND h.dur_ns >= limit_of('step_variance', 'least_span_ns')
      AND step_number(h.name) IS NULL
    GROUP BY ALL
),
counts AS MATERIALIZED (
    SELECT
        job,
        rank,
        kind,
        step_count,
        mean_ns,
        median_ns,
        p95_ns,
        count(*) AS slow_count,
        avg(step_ns) AS slow_ns
    FROM marked
    GROUP BY ALL
),
slow AS MATERIALIZED (
    SELECT s.*, t.slow_count AS typical_count, t.slow_ns AS typical_ns
    FROM counts AS s
    JOIN counts AS t ON t.job = s.job AND t.rank = s.rank AND t.kind = 'typical'
    WHERE s.kind <> 'typical'
),
growth AS MATERIALIZED (
    SELECT
        s.job,
        s.rank,
        s.kind,
        t.cause,
        t.name,
        max(t.depth) AS depth,
        coalesce(sum(t.ns) FILTER (t.step_kind = s.kind), 0) / any_value(s.slow_count)
        - coalesce(sum(t.ns) FILTER (t.step_kind = 'typical'), 0) / any_value(s.typical_count)
            AS more_ns
    FROM slow AS s
    JOIN times AS t ON t.job = s.job AND t.rank = s.rank
    GROUP BY s.job, s.rank, s.kind, t.cause, t.name
),
by_cause AS (
    SELECT job, rank, kind, cause, sum(more_ns) AS more_ns
    FROM growth
    WHERE cause <> 'host'
    GROUP BY job, rank, kind, cause
),
causes AS (
    SELECT
        s.job,
        s.rank,
        s.kind,
        s.slow_ns - s.typical_ns AS more_ns,
        coalesce(sum(c.more_ns) FILTER (c.cause = 'computation'), 0) AS computation_ns,
        coalesce(sum(c.more_ns) FILTER (c.cause = 'communication'), 0) AS communication_ns,
        coalesce(sum(c.more_ns) FILTER (c.cause = 'memory'), 0) AS memory_ns
    FROM slow AS s
    LEFT JOIN by_cause AS c ON c.job = s.job AND c.rank = s.rank AND c.kind = s.kind
    GROUP BY s.job, s.rank, s.kind, s.slow_ns, s.typical_ns
),
largest AS MATERIALIZED (
    SELECT
        job,
        rank,
        kind,
        more_ns - communication_ns AS own_ns,
        greatest(
            {'ns': more_ns - computation_ns - communication_ns - memory_ns, 'cause': 'host'},
            {'ns': computation_ns, 'cause': 'computation'},
            {'ns': communication_ns, 'cause': 'communication'},
            {'ns': memory_ns, 'cause': 'memory'}
        ) AS top
    FROM causes
),
-- The deepest span, or the kernel, that takes at least half of the difference.
named AS (
    SELECT
        l.job,
        l.rank,
        l.kind,
        max({'depth': g.depth, 'ns': g.more_ns, 'name': g.name}) AS most
    FROM largest AS l
    JOIN growth AS g
        ON g.job = l.job AND g.rank = l.rank AND g.kind = l.kind AND g.cause = l.top.cause
    WHERE g.more_ns >= l.top.ns / 2
    GROUP BY l.job, l.rank, l.kind
)
SELECT
    s.job,
    s.rank,
    s.kind,
    s.slow_count,
    s.step_count,
    s.slow_ns::BIGINT AS slow_ns,
    s.typical_ns::BIGINT AS typical_ns,
    s.mean_ns::BIGINT AS mean_ns,
    s.median_ns::BIGINT AS median_ns,
    s.p95_ns::BIGINT AS p95_ns,
    l.own_ns::BIGINT AS own_ns,
    l.top.cause AS cause,
    l.top.ns::BIGINT AS cause_ns,
    n.most.name AS name,
    n.most.ns::BIGINT AS name_ns
FROM slow AS s
JOIN largest AS l ON l.job = s.job AND l.rank = s.rank AND l.kind = s.kind
LEFT JOIN named AS n ON n.job = s.job AND n.rank = s.rank AND n.kind = s.kind;
