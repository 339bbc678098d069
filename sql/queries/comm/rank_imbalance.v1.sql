-- Imbalance of computation, communication, idle and step time between ranks.
--
-- A rank's time is the sum over its devices. On each device an instant counts once, however many
-- activities run then (see temporal_breakdown). A rank that computes longer than the mean makes the
-- others wait. It communicates less than they do, because it does not wait itself.
--
--     metric                 time of a rank
--     compute                time with computation
--     communication          time with communication
--     exposed_communication  time with communication but no computation
--     memory                 time with copies or memsets
--     idle                   time without activities, from the first activity to the last one
--     step_time              mean duration of its steps
--
-- since: 0.1
-- grain: job, metric
-- returns:
--   job         VARCHAR  -      run of a program with traces of two ranks or more
--   metric      VARCHAR  -      time that is compared
--   rank_count  BIGINT   count  ranks that have the metric
--   mean_ns     BIGINT   ns     mean over the ranks
--   min_ns      BIGINT   ns     smallest value of a rank
--   min_rank    INTEGER  -      rank with the smallest value; the lowest if there are several
--   max_ns      BIGINT   ns     largest value of a rank
--   max_rank    INTEGER  -      rank with the largest value; the lowest if there are several
--   imbalance   DOUBLE   -      max / mean; 1 means equal ranks
-- check: rank_count > 1
-- check: min_ns <= mean_ns AND mean_ns <= max_ns
-- check: imbalance >= 0.999999
-- reads: rank_times, step_spans
CREATE OR REPLACE MACRO rank_imbalance_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to compare [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, inside and outside steps]
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
