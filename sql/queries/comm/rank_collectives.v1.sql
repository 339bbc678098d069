-- Communication of each rank by process group, operation and message size, from its trace alone.
--
-- This works with the trace of one rank of many, where collectives, collective_bandwidth and other
-- queries across ranks have no rows. The durations of a rank include the time that it waits for the
-- others. So the shortest duration is an upper bound of the transfer time, and the bandwidth from
-- it is a lower bound.
--
-- A kernel of a library that gives the profiler no arguments, such as vLLM's own all-reduce, has
-- its short name, and no process group and no bytes.
--
-- bytes is the larger one of input and output. busbw_lower_bound_gbps is bytes * factor / min_ns,
-- with the factor of the view bus_factors for the group's size. An all-to-all with splits has none,
-- since one rank does not show how much the others send.
--
-- since: 0.1
-- grain: job, rank, process_group, name, dtype, bytes
-- needs: communication
-- returns:
--   job                     VARCHAR  -      run of a program
--   rank                    INTEGER  -      rank of the process
--   process_group           VARCHAR  -      name of the process group; NULL: not recorded
--   name                    VARCHAR  -      collective, as PyTorch names it, or the kernel's short
--                                           name
--   dtype                   VARCHAR  -      data type; NULL: not recorded
--   bytes                   BIGINT   bytes  size of the message; NULL for a barrier, and if the
--                                           data type or the number of elements is not known
--   group_size              BIGINT   -      ranks in the group; the largest number if several
--                                           groups have this name; NULL: not recorded
--   count                   BIGINT   count  kernels
--   total_ns                BIGINT   ns     sum of their durations, waits included
--   mean_ns                 BIGINT   ns     mean duration
--   min_ns                  BIGINT   ns     shortest duration
--   p50_ns                  BIGINT   ns     median duration
--   p95_ns                  BIGINT   ns     95th percentile of the durations
--   max_ns                  BIGINT   ns     longest duration
--   bytes_total             BIGINT   bytes  sum of the sizes
--   hidden_frac             DOUBLE   0-1    share of total_ns in which the device also computed
--   busbw_lower_bound_gbps  DOUBLE   GB/s   bytes * factor / min_ns: the bus bandwidth is at least
--                                           this
-- check: count > 0
-- check: min_ns <= p50_ns AND p50_ns <= p95_ns AND p95_ns <= max_ns
-- check: total_ns BETWEEN max_ns AND count * max_ns
-- check: hidden_frac BETWEEN 0 AND 1
-- check: busbw_lower_bound_gbps >= 0
-- reads: bus_factors, collective_operation, dtype_sizes, gpu_activities, possible_group_size,
--   possible_size
CREATE OR REPLACE MACRO rank_collectives_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
kernels AS (
    SELECT
        a.job,
        a.rank,
        nullif(a.process_group_name, '') AS process_group,
        coalesce(nullif(a.collective_name, ''), a.short_name) AS name,
        nullif(a.collective_name, '') AS collective_name,
        nullif(a.dtype, '') AS dtype,
        nullif(greatest(possible_size(a.in_nelems), possible_size(a.out_nelems)), 0)
            * d.element_bytes AS bytes,
        coalesce(a.in_split_sizes || a.out_split_sizes, '[][]') <> '[][]' AS has_splits,
        possible_group_size(a.group_size) AS group_size,
        a.dur_ns,
        a.hidden_ns
    FROM gpu_activities AS a
    LEFT JOIN dtype_sizes AS d ON d.dtype = a.dtype
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
      AND a.kind = 'communication'
),
totals AS (
    SELECT
        job,
        rank,
        process_group,
        name,
        dtype,
        bytes,
        max(collective_name) AS collective_name,
        max(group_size) AS group_size,
        bool_or(has_splits) AS has_splits,
        count(*) AS count,
        sum(dur_ns)::BIGINT AS total_ns,
        round(avg(dur_ns))::BIGINT AS mean_ns,
        min(dur_ns) AS min_ns,
        round(quantile_cont(dur_ns, 0.5))::BIGINT AS p50_ns,
        round(quantile_cont(dur_ns, 0.95))::BIGINT AS p95_ns,
        max(dur_ns) AS max_ns,
        sum(hidden_ns) AS hidden_total_ns
    FROM kernels
    GROUP BY ALL
)
SELECT
    t.job,
    t.rank,
    t.process_group,
    t.name,
    t.dtype,
    t.bytes,
    t.group_size,
    t.count,
    t.total_ns,
    t.mean_ns,
    t.min_ns,
    t.p50_ns,
    t.p95_ns,
    t.max_ns,
    TRY_CAST(t.count::HUGEINT * t.bytes AS BIGINT) AS bytes_total,
    t.hidden_total_ns / nullif(t.total_ns, 0) AS hidden_frac,
    CASE
        WHEN NOT t.has_splits
        THEN t.bytes
            * f.passes
            * CASE WHEN f.keeps_own_share THEN (t.group_size - 1) / t.group_size ELSE 1 END
            / nullif(t.min_ns, 0)
    END AS busbw_lower_bound_gbps
FROM totals AS t
LEFT JOIN bus_factors AS f ON f.operation = collective_operation(t.collective_name)
ORDER BY t.job, t.rank, t.total_ns DESC, t.process_group, t.name, t.dtype, bytes;
