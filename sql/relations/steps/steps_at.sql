-- One row per moment that lies in a step: job, rank, event_id and step.
--
-- If a moment lies in several steps, the row has the step that began last. A step contains its
-- start, but not its end.
--
--     moments  job, rank, event_id and at_ns
--     marks    job, rank, event_id, step, start_ns and end_ns, as in the view steps
--
-- The macro cuts the time of each rank into stretches. A stretch begins where a step begins or
-- ends. Each step covers some stretches, usually only a few. In the drawing, steps 3 and 4 overlap
-- in stretch 2, and stretch 2 belongs to step 4:
--
--     ProfilerStep#3    [==============)
--     ProfilerStep#4              [==============)
--     stretches         1         2    3         4
--     step                   3      4      4        none
CREATE OR REPLACE MACRO steps_at(moments, marks) AS TABLE
WITH
bounds AS (
    SELECT
        *,
        dense_rank() OVER (PARTITION BY job, rank ORDER BY at_ns) AS stretch
    FROM (
        SELECT job, rank, event_id, step, start_ns, start_ns AS at_ns FROM query_table(marks)
        UNION ALL
        SELECT job, rank, event_id, step, start_ns, end_ns AS at_ns FROM query_table(marks)
    )
),
covered AS (
    SELECT
        job,
        rank,
        event_id,
        step,
        start_ns,
        unnest(range(min(stretch), max(stretch))) AS stretch
    FROM bounds
    GROUP BY job, rank, event_id, step, start_ns
),
stretches AS (
    SELECT job, rank, stretch, arg_max(step, {'start_ns': start_ns, 'id': event_id}) AS step
    FROM covered
    GROUP BY job, rank, stretch
),
in_order AS (
    SELECT job, rank, at_ns, stretch, NULL::BIGINT AS event_id
    FROM bounds
    UNION ALL
    SELECT job, rank, at_ns, NULL AS stretch, event_id
    FROM query_table(moments)
),
reached AS (
    SELECT
        job,
        rank,
        event_id,
        max(stretch) OVER (
            PARTITION BY job, rank ORDER BY at_ns, event_id NULLS FIRST ROWS UNBOUNDED PRECEDING
        ) AS stretch
    FROM in_order
)
SELECT reached.job, reached.rank, reached.event_id, stretches.step
FROM reached
JOIN stretches
    ON stretches.job = reached.job
    AND stretches.rank = reached.rank
    AND stretches.stretch = reached.stretch
WHERE reached.event_id IS NOT NULL;
