-- The profiler itself takes time: it flushes its buffers, or records Python stacks.
--
-- A warning without a gain. It comes if the profiler's own rows of category `overhead` take at
-- least `least_frac` of the trace, or if at least `most_stack_frac` of the recorded spans on the
-- host are Python functions. Recording stacks slows the host, so the real program waits less for
-- the host than its trace says.
--
-- reads: events, host_ops, humane_frac, humane_ns, limit_of, traces
CREATE OR REPLACE MACRO find_profiler_overhead(only_jobs) AS TABLE
WITH
overheads AS (
    SELECT e.job, e.rank, e.name, sum(e.dur_ns) AS ns
    FROM events AS e
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, e.job))
      AND e.cat = 'overhead'
    GROUP BY e.job, e.rank, e.name
),
summed AS (
    SELECT job, rank, sum(ns) AS overhead_ns, arg_max(name, ns) AS name
    FROM overheads
    GROUP BY job, rank
),
stacks AS (
    SELECT h.job, h.rank, count(*) AS function_count
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND h.cat = 'python_function'
    GROUP BY h.job, h.rank
),
spans AS (
    SELECT
        t.job,
        t.rank,
        max(t.end_ns) - min(t.start_ns) AS trace_ns,
        sum(t.host_op_count) AS span_count
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
    GROUP BY t.job, t.rank
),
measured AS (
    SELECT
        s.job,
        s.rank,
        o.name,
        coalesce(o.overhead_ns, 0)::BIGINT AS overhead_ns,
        coalesce(o.overhead_ns / nullif(s.trace_ns, 0), 0) AS overhead_frac,
        coalesce(f.function_count / nullif(s.span_count, 0), 0) AS stack_frac,
        overhead_frac >= limit_of('profiler_overhead', 'least_frac') AS is_long,
        stack_frac >= limit_of('profiler_overhead', 'most_stack_frac') AS has_stacks
    FROM spans AS s
    LEFT JOIN summed AS o ON o.job = s.job AND o.rank = s.rank
    LEFT JOIN stacks AS f ON f.job = s.job AND f.rank = s.rank
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    CASE WHEN is_long THEN name ELSE 'Python stacks' END AS subject,
    CASE
        WHEN is_long
        THEN 'The profiler itself takes ' || humane_frac(overhead_frac) || ' of the trace'
        ELSE 'Recording Python stacks slows the host'
    END AS title,
    concat_ws(
        ' ',
        CASE
            WHEN is_long
            THEN format(
                'The profiler''s own work takes {} of the trace ({}), most of all {}.',
                humane_ns(overhead_ns), humane_frac(overhead_frac), name
            )
        END,
        CASE
            WHEN has_stacks
            THEN format(
                '{} of the spans on the host are Python functions. Recording them makes the host '
                || 'slower, so the program without a profiler waits less for the host.',
                humane_frac(stack_frac)
            )
        END
    ) AS evidence,
    json_object(
        'overhead_ns', overhead_ns,
        'overhead_frac', overhead_frac,
        'name', name,
        'stack_frac', stack_frac
    ) AS numbers,
    NULL::BIGINT AS gain_ns,
    NULL::VARCHAR AS gain_method,
    'high' AS confidence,
    CASE
        WHEN has_stacks
        THEN 'Record times without stacks (with_stack=False), and stacks in a second trace.'
        ELSE 'Record fewer steps, and leave out shapes and stacks that are not needed.'
    END AS advice,
    'thread_stats' AS see
FROM measured
WHERE is_long OR has_stacks;
