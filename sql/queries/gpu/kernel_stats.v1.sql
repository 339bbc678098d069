-- Count and durations of each kernel, copy and memset, per rank.
--
-- Sums and statistics are over single calls, so overlapping calls each count in full. Percentiles
-- interpolate linearly between calls, as in pandas. stddev_ns is the standard deviation of a
-- sample; it is 0 for a single call. Means, percentiles and deviations are rounded to whole ns.
--
-- Within each rank and kind, `top_k` keeps the names with the longest total time. The calls of all
-- other names are counted together in one row `others`. Calls that the parameters leave out do not
-- count anywhere: position and total_frac consider only the selected calls. `name_contains`
-- searches the full name, even if `short_names` is true.
--
-- HTA's get_gpu_kernel_breakdown returns two DataFrames. The second has the sum, mean, min, max and
-- stddev. HTA keeps at most 10 names of each kind by default. If a rank has more names of a kind,
-- HTA first adds up the durations of each name's calls, and then takes the statistics over these
-- sums:
--   * For a kept name, HTA's mean, min and max are equal to its sum, and its stddev is 0.
--   * For `others`, HTA's mean, min, max and stddev are over the sums of the other names.
--
-- since: 0.1
-- grain: job, rank, kind, name
-- needs: gpu_activities
-- returns:
--   job          VARCHAR  -      run of a program
--   rank         INTEGER  -      rank of the process
--   kind         VARCHAR  -      computation, communication or memory
--   name         VARCHAR  -      name of the kernel, copy or memset; or others
--   count        BIGINT   count  calls
--   total_ns     BIGINT   ns     sum of the calls' durations
--   mean_ns      BIGINT   ns     mean of the calls' durations
--   min_ns       BIGINT   ns     shortest call
--   p50_ns       BIGINT   ns     median call
--   p95_ns       BIGINT   ns     95th percentile of the calls
--   max_ns       BIGINT   ns     longest call
--   stddev_ns    BIGINT   ns     sample standard deviation of the calls' durations
--   total_frac   DOUBLE   0-1    total_ns / the rank's total of that kind; NULL if the total is 0
--   position     BIGINT   -      place in its rank and kind, 1 for the longest total_ns; ties by
--                                name; the row `others` is last
-- check: count > 0 AND position > 0
-- check: min_ns <= p50_ns AND p50_ns <= p95_ns AND p95_ns <= max_ns
-- check: mean_ns BETWEEN min_ns AND max_ns
-- check: total_ns BETWEEN count * min_ns AND count * max_ns
-- check: stddev_ns >= 0 AND (stddev_ns = 0 OR min_ns < max_ns)
-- check: total_frac BETWEEN 0 AND 1
-- reads: named_calls, sample_stddev, whole_ns
CREATE OR REPLACE MACRO kernel_stats_v1(
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
-- The durations of a name's calls are one list. Folding names then only unnests the lists, and the
-- activities with their long names are read and grouped once.
names AS (
    SELECT job, rank, kind, name, sum(dur_ns) AS total_ns, list(dur_ns) AS calls
    FROM picked
    GROUP BY job, rank, kind, name
),
positions AS (
    SELECT
        job,
        rank,
        kind,
        name,
        calls,
        sum(total_ns) OVER (PARTITION BY job, rank, kind) AS kind_ns,
        row_number() OVER (
            PARTITION BY job, rank, kind ORDER BY total_ns DESC, name
        ) AS position
    FROM names
),
calls AS (
    SELECT
        job,
        rank,
        kind,
        CASE WHEN position > top_k THEN 'others' ELSE name END AS name,
        least(position, (CASE WHEN top_k < 0 THEN 0 ELSE top_k END)::BIGINT + 1) AS position,
        kind_ns,
        unnest(calls) AS dur_ns
    FROM positions
)
SELECT
    job,
    rank,
    kind,
    name,
    count(*) AS count,
    sum(dur_ns)::BIGINT AS total_ns,
    round(avg(dur_ns))::BIGINT AS mean_ns,
    min(dur_ns) AS min_ns,
    whole_ns(quantile_cont(dur_ns, 0.5)) AS p50_ns,
    whole_ns(quantile_cont(dur_ns, 0.95)) AS p95_ns,
    max(dur_ns) AS max_ns,
    round(
        sample_stddev(count(*), sum(dur_ns), sum(dur_ns::HUGEINT * dur_ns))
    )::BIGINT AS stddev_ns,
    sum(dur_ns) / nullif(kind_ns, 0) AS total_frac,
    position
FROM calls
GROUP BY job, rank, kind, name, position, kind_ns
ORDER BY job, rank, kind, position;
