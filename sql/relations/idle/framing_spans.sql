-- One row per framing span: job, rank and event_id.
--
-- A framing span is open during the whole step or the whole trace, so it says nothing about an idle
-- time. These are framing spans, if all their callers are framing spans, too:
--
--   * the annotation of a step
--   * a Python function around a step, or around all GPU activities of its rank
--   * Python's entry frames: `<module>`, runpy, and those of threading and multiprocessing
--
-- In the drawing, the first three are framing spans:
--
--     train.py: <module>  [                                          )
--     train.py: main       [                                        )
--     ProfilerStep#4          [                                   )
--     next batch                [        )
--     forward                             [                    )
--     aten::linear                          [    )   [    )
--
-- `jobs`, `ranks`: jobs and ranks to read (NULL: all).
--
-- reads: gpu_activities, host_ops, step_marks, step_number
CREATE OR REPLACE MACRO framing_spans(jobs, ranks) AS TABLE
WITH RECURSIVE
gpu_spans AS (
    SELECT a.job, a.rank, min(a.start_ns) AS first_ns, max(a.end_ns) AS last_ns
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
    GROUP BY a.job, a.rank
),
-- The marks of steps, as in `steps`, with their callers.
marks AS MATERIALIZED (
    SELECT h.job, h.rank, h.event_id, h.parent_id, h.pid, h.tid, h.start_ns, h.end_ns
    FROM host_ops AS h
    WHERE (jobs IS NULL OR list_contains(jobs, h.job))
      AND (ranks IS NULL OR list_contains(ranks, h.rank))
      AND prefix(h.name, 'ProfilerStep')
      AND step_number(h.name) IS NOT NULL
      AND h.cat <> 'python_function'
    UNION ALL
    SELECT m.job, m.rank, m.event_id, h.parent_id, m.pid, m.tid, m.start_ns, m.end_ns
    FROM step_marks AS m
    JOIN host_ops AS h ON h.job = m.job AND h.rank = m.rank AND h.event_id = m.event_id
    WHERE (jobs IS NULL OR list_contains(jobs, h.job))
      AND (ranks IS NULL OR list_contains(ranks, h.rank))
),
shortest AS (
    SELECT job, rank, min(end_ns - start_ns) AS step_ns
    FROM marks
    GROUP BY job, rank
),
functions AS (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        h.parent_id,
        h.pid,
        h.tid,
        h.start_ns,
        h.end_ns,
        h.start_ns <= g.first_ns AND h.end_ns >= g.last_ns AS is_always_open,
        coalesce(h.dur_ns >= s.step_ns, false) AS may_call_steps,
        suffix(h.name, ': <module>')
        OR (
            -- A quick look first: the pattern takes longer.
            (contains(h.name, 'runpy.') OR contains(h.name, 'thread') OR contains(h.name, 'multip'))
            AND regexp_matches(
                h.name,
                '(^|/)(runpy|threading|multiprocessing/[a-z_]+)\.py\(\d+\): '
                || '(_?run\w*|_bootstrap\w*|spawn_main|_main|_launch|start|Popen|__init__)$'
            )
        ) AS is_entry
    FROM host_ops AS h
    JOIN gpu_spans AS g ON g.job = h.job AND g.rank = h.rank
    LEFT JOIN shortest AS s ON s.job = h.job AND s.rank = h.rank
    WHERE (jobs IS NULL OR list_contains(jobs, h.job))
      AND (ranks IS NULL OR list_contains(ranks, h.rank))
      AND h.cat = 'python_function'
      AND (is_always_open OR may_call_steps OR is_entry)
),
-- next_end_ns is the first end of the steps that begin during or after the function.
before_marks AS (
    SELECT
        *,
        min(mark_end_ns) OVER (
            PARTITION BY job, rank, pid, tid ORDER BY start_ns DESC RANGE UNBOUNDED PRECEDING
        ) AS next_end_ns
    FROM (
        SELECT *, NULL::BIGINT AS mark_end_ns, false AS is_mark FROM functions
        UNION ALL BY NAME
        SELECT *, end_ns AS mark_end_ns, true AS is_mark FROM marks
    )
),
possible AS MATERIALIZED (
    SELECT job, rank, event_id, parent_id
    FROM before_marks
    WHERE is_mark OR is_always_open OR is_entry OR next_end_ns <= end_ns
),
framing AS (
    SELECT job, rank, event_id
    FROM possible
    WHERE parent_id IS NULL
    UNION ALL
    SELECT p.job, p.rank, p.event_id
    FROM framing
    JOIN possible AS p
        ON p.job = framing.job AND p.rank = framing.rank AND p.parent_id = framing.event_id
)
-- A list, since DuckDB expects millions of rows from a recursion, and plans joins for so many.
SELECT unnest(list({'job': job, 'rank': rank, 'event_id': event_id}), recursive := true)
FROM framing;
