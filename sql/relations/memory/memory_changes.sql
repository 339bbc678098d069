-- One row per allocation or release of memory in the traces, with the columns of memory_instants.
--
-- `marks`: rows of the view steps.
-- `only_jobs`, `only_ranks`: jobs and ranks to read (NULL: all).
-- `only_steps`: steps of `marks` in which the allocation or release lies (NULL: the whole trace).
--
-- reads: events, memory_instants, steps_at
CREATE OR REPLACE MACRO memory_changes(marks, only_jobs, only_ranks, only_steps) AS TABLE
WITH
instants AS (
    SELECT e.job, e.rank, e.event_id, e.pid, e.tid, e.start_ns, e.args
    FROM events AS e
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, e.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, e.rank))
      AND e.name = '[memory]'
      AND e.ph IN ('i', 'I')
),
told AS MATERIALIZED (
    FROM memory_instants(instants)
),
to_place AS (
    SELECT job, rank, event_id, at_ns
    FROM told
    WHERE only_steps IS NOT NULL
)
SELECT m.*
FROM told AS m
LEFT JOIN steps_at(to_place, marks) AS placed
    ON placed.job = m.job AND placed.rank = m.rank AND placed.event_id = m.event_id
WHERE (only_steps IS NULL OR list_contains(only_steps, placed.step));
