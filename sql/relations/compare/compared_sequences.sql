-- One row per operator call on a side (base or test), numbered in program order. The calls that a
-- graph replays are in the order in which they were recorded.
--
-- By default, a side has the calls in the first step of its lowest rank. If the chosen ranks of a
-- side have no steps, the side has the calls of the whole traces of these ranks.
--
-- Returns job, rank, event_id, name, input_dims, dur_ns and
--
--     side    base or test
--     place   position of the call on its side, from 1
--     shapes  input_dims, or '' if the call has no recorded shapes. If no call of a side has
--             recorded shapes, shapes is '' in all rows of both sides
--
-- Calls are ordered by rank, step, thread and start. In a step, the thread of the step's annotation
-- comes first. Other threads follow in the order of their first calls.
--
-- reads: compared_sides, host_calls, is_operator, may_be_compared, steps, traces
CREATE OR REPLACE MACRO compared_sequences(
    base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
) AS TABLE
WITH
sides AS MATERIALIZED (
    FROM compared_sides(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
picked_ranks AS (
    SELECT
        sides.side,
        sides.job,
        coalesce(sides.ranks, [min(t.rank)]) AS ranks,
        sides.step_numbers
    FROM sides
    JOIN traces AS t ON t.job = sides.job
    GROUP BY sides.side, sides.job, sides.ranks, sides.step_numbers
),
marks AS MATERIALIZED (
    SELECT s.job, s.rank, s.step, s.tid, s.pid
    FROM steps AS s
    WHERE may_be_compared(s.job, base_job, test_job)
      AND s.job IN (SELECT job FROM sides)
),
first_steps AS (
    SELECT p.side, min(m.step) AS step
    FROM picked_ranks AS p
    JOIN marks AS m ON m.job = p.job AND list_contains(p.ranks, m.rank)
    GROUP BY p.side
),
picked AS MATERIALIZED (
    SELECT
        p.side,
        p.job,
        p.ranks,
        coalesce(p.step_numbers, CASE WHEN f.step IS NOT NULL THEN [f.step] END) AS step_numbers
    FROM picked_ranks AS p
    LEFT JOIN first_steps AS f ON f.side = p.side
),
ops AS MATERIALIZED (
    SELECT
        p.side,
        o.job,
        o.rank,
        o.step,
        o.pid,
        o.tid,
        o.event_id,
        o.name,
        o.input_dims,
        o.start_ns,
        o.dur_ns
    FROM host_calls AS o
    JOIN picked AS p ON p.job = o.job
    WHERE is_operator(o.cat)
      AND may_be_compared(o.job, base_job, test_job)
      AND list_contains(p.ranks, o.rank)
      AND (p.step_numbers IS NULL OR list_contains(p.step_numbers, o.step))
),
threads AS (
    SELECT
        o.side,
        o.rank,
        coalesce(o.step, -1) AS step,
        o.pid,
        o.tid,
        count(m.job) = 0 AS is_beside,
        min(o.start_ns) AS first_ns
    FROM ops AS o
    LEFT JOIN (SELECT DISTINCT job, rank, step, pid, tid FROM marks) AS m
        ON m.job = o.job
        AND m.rank = o.rank
        AND m.step = o.step
        AND m.pid IS NOT DISTINCT FROM o.pid
        AND m.tid IS NOT DISTINCT FROM o.tid
    GROUP BY o.side, o.rank, coalesce(o.step, -1), o.pid, o.tid
),
have_shapes AS (
    SELECT
        coalesce(bool_or(input_dims IS NOT NULL) FILTER (side = 'base'), false)
        AND coalesce(bool_or(input_dims IS NOT NULL) FILTER (side = 'test'), false) AS both_do
    FROM ops
)
SELECT
    o.side,
    row_number() OVER (
        PARTITION BY o.side
        ORDER BY
            o.rank, coalesce(o.step, -1), t.is_beside, t.first_ns, o.pid, o.tid, o.start_ns,
            o.dur_ns DESC, o.event_id
    ) AS place,
    o.job,
    o.rank,
    o.event_id,
    o.name,
    o.input_dims,
    CASE WHEN s.both_do THEN coalesce(o.input_dims, '') ELSE '' END AS shapes,
    o.dur_ns
FROM ops AS o
CROSS JOIN have_shapes AS s
JOIN threads AS t
    ON t.side = o.side
    AND t.rank = o.rank
    AND t.step = coalesce(o.step, -1)
    AND t.pid IS NOT DISTINCT FROM o.pid
    AND t.tid IS NOT DISTINCT FROM o.tid;
