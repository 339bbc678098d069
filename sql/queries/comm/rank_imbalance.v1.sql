-- How unevenly work and waiting are spread over the ranks of a job.
--
-- A rank's time is summed over its devices; an instant counts once for each device, however many
-- activities run then (see temporal_breakdown). A rank that computes longer than the mean makes the
-- others wait, and communicates less than they: it waits for nobody.
--
--     metric                 of a rank
--     compute                time with computation
--     communication          time with communication
--     exposed_communication  time with communication, but no computation
--     memory                 time with copies or memsets
--     idle                   from its first activity to the last, time with none
--     step_time              mean duration of its steps
--
-- HTA has no counterpart: its temporal breakdown leaves comparing to the reader.
--
-- since: 0.1
-- grain: job, metric
-- returns:
--   job         VARCHAR  -      run of a program; one with traces of two ranks or more
--   metric      VARCHAR  -      what is compared
--   rank_count  BIGINT   count  ranks that have it
--   mean_ns     BIGINT   ns     over the ranks
--   min_ns      BIGINT   ns     least of them
--   min_rank    INTEGER  -      whose; of several the lowest rank
--   max_ns      BIGINT   ns     largest of them
--   max_rank    INTEGER  -      whose; of several the lowest rank
--   imbalance   DOUBLE   -      max / mean: 1 is even
-- check: rank_count > 1
-- check: min_ns <= mean_ns AND mean_ns <= max_ns
-- check: imbalance >= 0.999999
-- reads: rank_times, step_spans
CREATE OR REPLACE MACRO rank_imbalance_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to compare [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, also outside steps]
) AS TABLE
WITH
of_ranks AS (
    SELECT
        job,
        rank,
        compute_ns AS compute,
        communication_ns AS communication,
        both_ns - compute_ns AS exposed_communication,
        memory_ns AS memory,
        span_ns - busy_ns AS idle
    FROM rank_times(only_jobs, only_ranks, only_steps)
),
metrics AS (
    UNPIVOT of_ranks
    ON compute, communication, exposed_communication, memory, idle
    INTO NAME metric VALUE of_rank_ns
    UNION ALL BY NAME
    SELECT job, rank, 'step_time' AS metric, round(avg(step_ns))::BIGINT AS of_rank_ns
    FROM step_spans(only_jobs, only_ranks, only_steps)
    GROUP BY job, rank
)
SELECT
    job,
    metric,
    count(*) AS rank_count,
    round(avg(of_rank_ns))::BIGINT AS mean_ns,
    min(of_rank_ns) AS min_ns,
    min({'ns': of_rank_ns, 'rank': rank}).rank AS min_rank,
    max(of_rank_ns) AS max_ns,
    min({'ns': -of_rank_ns, 'rank': rank}).rank AS max_rank,
    max(of_rank_ns) / nullif(avg(of_rank_ns), 0) AS imbalance
FROM metrics
GROUP BY job, metric
HAVING count(*) > 1
ORDER BY job, metric;
