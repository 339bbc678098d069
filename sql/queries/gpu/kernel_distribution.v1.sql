-- How each kernel's mean duration differs between ranks.
--
-- Copies and memsets count as kernels here. The mean of a rank is the mean duration of its calls of
-- one kernel name. The slowest rank has the longest mean, and the fastest rank has the shortest. Of
-- ranks with equal means, the lowest rank is given. Ranks that never ran the kernel do not count.
--
-- Within each job and kind, `top_k` keeps the names with the longest total time over all ranks. The
-- calls of all other names are counted together in one row `others`. Calls that the parameters
-- leave out do not count anywhere. `name_contains` searches the full name, even if `short_names` is
-- true.
--
-- HTA's get_gpu_kernel_breakdown shows the ranks' means only as a plot. HTA keeps at most 10 names
-- of each kind by default. If a rank has more names of a kind, HTA adds up the calls of each name
-- first, so its mean of a kept name is a sum, and its mean of `others` is a mean of sums.
--
-- since: 0.1
-- grain: job, kind, name
-- needs: gpu_activities
-- returns:
--   job              VARCHAR  -      run of a program
--   kind             VARCHAR  -      computation, communication or memory
--   name             VARCHAR  -      name of the kernel, copy or memset; or others
--   rank_count       BIGINT   count  ranks that ran the kernel
--   count            BIGINT   count  calls on all ranks
--   total_ns         BIGINT   ns     sum of the calls' durations
--   mean_ns          BIGINT   ns     mean of all calls' durations
--   slowest_rank     INTEGER  -      rank with the longest mean
--   slowest_mean_ns  BIGINT   ns     mean on the slowest rank
--   fastest_rank     INTEGER  -      rank with the shortest mean
--   fastest_mean_ns  BIGINT   ns     mean on the fastest rank
--   min_ns           BIGINT   ns     shortest call
--   max_ns           BIGINT   ns     longest call
--   imbalance        DOUBLE   -      longest mean / mean of the ranks' means; NULL if all are 0
--   position         BIGINT   -      place in its job and kind, 1 for the longest total_ns; ties by
--                                    name; the row `others` is last
-- check: rank_count > 0 AND count >= rank_count AND position > 0
-- check: min_ns <= fastest_mean_ns AND slowest_mean_ns <= max_ns
-- check: mean_ns BETWEEN fastest_mean_ns AND slowest_mean_ns
-- check: total_ns BETWEEN count * min_ns AND count * max_ns
-- check: imbalance > 0.999999 AND imbalance < rank_count + 0.000001
-- check: rank_count > 1 OR slowest_rank = fastest_rank
-- reads: named_calls
CREATE OR REPLACE MACRO kernel_distribution_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    top_k INTEGER := NULL,  -- names to keep of each kind [default: all]
    name_contains VARCHAR := NULL,  -- only names that contain this; case matters [default: all]
    short_names BOOLEAN := false  -- names without template arguments and parameters
) AS TABLE
WITH
picked AS (
    FROM named_calls(only_jobs, only_ranks, only_steps, name_contains, short_names)
),
-- Materialized: DuckDB turns the window sum below into a join, and would compute by_name twice.
by_name AS MATERIALIZED (
    SELECT
        job,
        rank,
        kind,
        name,
        count(*) AS call_count,
        sum(dur_ns) AS total_ns,
        min(dur_ns) AS min_ns,
        max(dur_ns) AS max_ns
    FROM picked
    GROUP BY job, rank, kind, name
),
totals AS (
    SELECT *, sum(total_ns) OVER (PARTITION BY job, kind, name) AS total_of_ranks_ns
    FROM by_name
),
positions AS (
    SELECT
        *,
        dense_rank() OVER (
            PARTITION BY job, kind ORDER BY total_of_ranks_ns DESC, name
        ) AS position
    FROM totals
),
by_rank AS (
    SELECT
        job,
        rank,
        kind,
        CASE WHEN p.position > top_k THEN 'others' ELSE p.name END AS name,
        least(p.position, (CASE WHEN top_k < 0 THEN 0 ELSE top_k END)::BIGINT + 1) AS position,
        sum(call_count) AS call_count,
        sum(total_ns) AS total_ns,
        sum(total_ns) / sum(call_count) AS mean_ns,
        min(min_ns) AS min_ns,
        max(max_ns) AS max_ns
    FROM positions AS p
    GROUP BY ALL
)
SELECT
    job,
    kind,
    name,
    count(*) AS rank_count,
    sum(call_count)::BIGINT AS count,
    sum(total_ns)::BIGINT AS total_ns,
    round(sum(total_ns) / sum(call_count))::BIGINT AS mean_ns,
    arg_min(rank, (-mean_ns, rank)) AS slowest_rank,
    round(max(mean_ns))::BIGINT AS slowest_mean_ns,
    arg_min(rank, (mean_ns, rank)) AS fastest_rank,
    round(min(mean_ns))::BIGINT AS fastest_mean_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns,
    max(mean_ns) / nullif(avg(mean_ns ORDER BY rank), 0) AS imbalance,
    position
FROM by_rank
GROUP BY job, kind, name, position
ORDER BY job, kind, position;
