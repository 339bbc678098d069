-- Imbalance of computation, communication, idle and step time between ranks.
--
-- The query compares these times of the ranks:
--
--     metric                 time of a rank
--     compute                time with computation
--     communication          time with communication
--     exposed_communication  time with communication but no computation
--     memory                 time with copies or memsets
--     idle                   time without activities, from a device's first
--                            activity to its last
--     step_time              mean duration of the rank's steps
--
-- Except for step_time, a rank's time is the sum over its devices. If several activities of the
-- same kind run on a device at the same time, this time counts once (see temporal_breakdown).
--
-- If a rank computes longer than the others, the other ranks wait for it in collectives. The
-- communication of these other ranks then takes longer, because it includes their waits.
--
-- since: 0.1
-- grain: job, metric
-- needs: ranks
-- returns:
--   job         VARCHAR  -      run of a program with traces of two ranks or more
--   metric      VARCHAR  -      name of the time, as above
--   rank_count  BIGINT   count  ranks that have the metric
--   mean_ns     BIGINT   ns     mean of the metric over the ranks
--   min_ns      BIGINT   ns     smallest time of a rank
--   min_rank    INTEGER  -      rank with the smallest time; the lowest rank if several have it
--   max_ns      BIGINT   ns     largest time of a rank
--   max_rank    INTEGER  -      rank with the largest time; the lowest rank if several have it
--   imbalance   DOUBLE   -      max_ns / mean_ns; 1 if all ranks have the same time
-- check: rank_count > 1
-- check: min_ns <= mean_ns AND mean_ns <= max_ns
-- check: imbalance >= 0.999999
-- reads: rank_times, step_spans
CREATE OR REPLACE MACRO rank_imbalance_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to compare [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
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
