-- One row per context: the number of calls, their host time and their GPU time on each side.
--
-- A context is an operator with its caller and its caller's caller, see ops_in_contexts. All values
-- are per step and rank. The GPU time is the time of all activities that are launched in the
-- operator, at any depth, and in the operator's backward pass. The macro computes GPU time only for
-- the contexts in `changed`. For other contexts, GPU time is 0.
--
--     changed      has the column context: the contexts whose GPU time is needed
--     calls        rows of calls_in_contexts
--     in_contexts  rows of ops_in_contexts
--     activities   rows of compared_activities
--     samples      sample and side: a sample is one step on one side, with all ranks of the side
--     counted      the row of counted_steps
CREATE OR REPLACE MACRO context_totals(
    changed, calls, in_contexts, activities, samples, counted
) AS TABLE
WITH RECURSIVE
below AS (
    SELECT o.context, o.op_key, o.sample
    FROM query_table(in_contexts) AS o
    WHERE o.context IN (SELECT c.context FROM query_table(changed) AS c)
    UNION ALL
    SELECT b.context, o.op_key, b.sample
    FROM below AS b
    JOIN query_table(in_contexts) AS o ON o.parent_key = b.op_key
),
on_gpu AS (
    SELECT
        b.context,
        sum(a.dur_ns) FILTER (s.side = 'base') AS base_ns,
        sum(a.dur_ns) FILTER (s.side = 'test') AS test_ns
    FROM below AS b
    JOIN query_table(activities) AS a ON a.op_key = b.op_key
    JOIN query_table(samples) AS s ON s.sample = b.sample
    GROUP BY b.context
),
on_host AS (
    SELECT
        c.context,
        sum(c.times) FILTER (s.side = 'base') AS base_times,
        sum(c.times) FILTER (s.side = 'test') AS test_times,
        sum(c.total_ns) FILTER (s.side = 'base') AS base_ns,
        sum(c.total_ns) FILTER (s.side = 'test') AS test_ns
    FROM query_table(calls) AS c
    JOIN query_table(samples) AS s ON s.sample = c.sample
    GROUP BY c.context
)
SELECT
    h.context,
    coalesce(h.base_times / n.base_steps_count, 0) AS base_calls,
    coalesce(h.test_times / n.test_steps_count, 0) AS test_calls,
    coalesce(h.base_ns / n.base_steps_count, 0) AS base_host_ns,
    coalesce(h.test_ns / n.test_steps_count, 0) AS test_host_ns,
    coalesce(g.base_ns / n.base_steps_count, 0) AS base_gpu_ns,
    coalesce(g.test_ns / n.test_steps_count, 0) AS test_gpu_ns
FROM on_host AS h
CROSS JOIN query_table(counted) AS n
LEFT JOIN on_gpu AS g ON g.context = h.context;
