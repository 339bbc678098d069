-- Pipeline bubbles: how long each stage waits for messages in each step.
--
-- A rank's stage is its place in the process group of its messages. A rank's bubble is the time in
-- which at least one of its receives waits for the sender and its device does not compute. recv_ns
-- is the time in which at least one receive runs, with or without waits. If several receives run at
-- the same time, this time counts once.
--
-- If a pipeline has p stages and cuts its batch into m parts, its schedule leaves each stage idle
-- for this share of a step, even if no stage is slow:
--
--     (p - 1) / (m + p - 1)
--
-- since: 0.1
-- grain: job, rank, step
-- needs: messages, ranks
-- returns:
--   job            VARCHAR  -      run of a program
--   rank           INTEGER  -      rank that receives the messages
--   step           BIGINT   -      step in which the rank launched the receives; NULL outside steps
--   stage          BIGINT   -      the rank's place in the group of its messages, from 0; the
--                                  lowest place if the messages have several groups; NULL if the
--                                  groups' ranks are not known
--   message_count  BIGINT   count  messages received
--   recv_ns        BIGINT   ns     time with at least one receive
--   wait_ns        BIGINT   ns     part of recv_ns in which at least one receive waits
--   bubble_ns      BIGINT   ns     part of wait_ns without computation on the rank's device
--   step_ns        BIGINT   ns     duration of the step on the rank; NULL outside steps
--   bubble_frac    DOUBLE   0-1    bubble_ns / step_ns
-- check: message_count > 0
-- check: bubble_ns BETWEEN 0 AND wait_ns
-- check: wait_ns <= recv_ns
-- reads: covered_times, covered_until, gpu_activities, groups_of_jobs, paired_members, step_spans
CREATE OR REPLACE MACRO pipeline_bubbles_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all]
) AS TABLE
WITH
members AS (
    FROM paired_members(only_jobs)
    WHERE is_message AND member_count = 2
),
groups AS (
    FROM groups_of_jobs(only_jobs)
),
receives AS MATERIALIZED (
    SELECT
        dense_rank() OVER (ORDER BY m.job, m.rank, m.step) AS group_id,
        m.job,
        m.rank,
        m.step,
        m.device,
        m.start_ns,
        m.end_ns,
        m.start_ns + m.wait_ns AS until_ns,
        (list_position(g.ranks, m.rank) - 1)::BIGINT AS stage
    FROM members AS m
    JOIN groups AS g ON g.group_id = m.group_id
    WHERE m.operation = 'recv'
      AND (only_ranks IS NULL OR list_contains(only_ranks, m.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, m.step))
),
waits AS (
    SELECT group_id, start_ns, until_ns AS end_ns
    FROM receives
),
-- Cuts a rank's waits in a step into stretches without overlap, so that hidden times add up.
reached AS (
    SELECT
        *,
        max(until_ns) OVER (
            PARTITION BY group_id ORDER BY start_ns, until_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns
    FROM receives
),
stretches AS MATERIALIZED (
    SELECT
        row_number() OVER () AS stretch_id,
        dense_rank() OVER (ORDER BY job, rank, device) AS device_id,
        job,
        rank,
        device,
        group_id,
        greatest(start_ns, before_ns) AS start_ns,
        greatest(start_ns, before_ns, until_ns) AS end_ns
    FROM reached
),
computations AS (
    SELECT d.device_id AS group_id, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    JOIN (SELECT DISTINCT device_id, job, rank, device FROM stretches) AS d
        ON d.job = a.job AND d.rank = a.rank AND d.device IS NOT DISTINCT FROM a.device
    WHERE a.kind = 'computation'
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
instants AS (
    SELECT device_id AS group_id, -stretch_id AS instant_id, start_ns AS at_ns
    FROM stretches
    UNION ALL
    SELECT device_id AS group_id, stretch_id AS instant_id, end_ns AS at_ns
    FROM stretches
),
hidden AS (
    SELECT s.group_id, sum(sign(c.instant_id) * c.covered_ns)::BIGINT AS hidden_ns
    FROM covered_until(computations, instants) AS c
    JOIN stretches AS s ON s.stretch_id = abs(c.instant_id)
    GROUP BY s.group_id
),
stages AS (
    SELECT
        group_id,
        job,
        rank,
        step,
        min(stage) AS stage,
        count(*) AS message_count
    FROM receives
    GROUP BY group_id, job, rank, step
)
SELECT
    s.job,
    s.rank,
    s.step,
    s.stage,
    s.message_count,
    r.covered_ns AS recv_ns,
    w.covered_ns AS wait_ns,
    w.covered_ns - h.hidden_ns AS bubble_ns,
    t.step_ns,
    (w.covered_ns - h.hidden_ns) / nullif(t.step_ns, 0) AS bubble_frac
FROM stages AS s
JOIN covered_times(receives) AS r ON r.group_id = s.group_id
JOIN covered_times(waits) AS w ON w.group_id = s.group_id
JOIN hidden AS h ON h.group_id = s.group_id
LEFT JOIN step_spans(only_jobs, only_ranks, only_steps) AS t
    ON t.job = s.job AND t.rank = s.rank AND t.step = s.step
ORDER BY s.job, s.rank, s.step;
