-- Load of experts by rank: time in the kernels of experts, and rows that all-to-alls exchange.
--
-- In a mixture of experts, a router chooses experts for each token. If the experts are on several
-- ranks, an all-to-all sends the tokens to the ranks of their experts, and another one sends the
-- results back. If the experts of a rank get more tokens, its kernels take longer, and the other
-- ranks wait for it.
--
--   * Kernels of experts are those of the category `grouped_gemm`, see category_breakdown. With
--     one rank, the figures show how much time they take; with several, `load_ratio` compares them.
--   * Rows count in all-to-alls for which the trace has the splits: how many rows of the tensor go
--     to and come from each member. A row is a token, once per expert that it goes to. Both ways
--     count. A rank whose experts get more tokens receives more on the way there, and sends more on
--     the way back. all_to_all_matrix has the bytes between each two ranks.
--
-- The finding expert_imbalance says what the imbalance costs.
--
-- since: 0.1
-- grain: job, rank
-- needs: gpu_activities
-- returns:
--   job                  VARCHAR  -      run of a program
--   rank                 INTEGER  -      rank with such kernels or all-to-alls
--   expert_kernel_count  BIGINT   count  kernels of experts
--   expert_ns            BIGINT   ns     sum of their durations
--   expert_frac          DOUBLE   0-1    expert_ns / sum of the durations of all kernels that
--                                        compute
--   load_ratio           DOUBLE   -      expert_ns / its mean over the rows of the job; NULL
--                                        without such kernels
--   all_to_all_count     BIGINT   count  all-to-alls with splits
--   all_to_all_ns        BIGINT   ns     sum of their durations, waits included
--   sent_row_count       BIGINT   count  rows that they send from this rank; NULL if there are no
--                                        splits, or the trace cuts one short
--   received_row_count   BIGINT   count  rows that this rank receives; NULL as above
--   received_ratio       DOUBLE   -      received_row_count / its mean over the rows of the job
-- check: expert_kernel_count + all_to_all_count > 0
-- check: expert_frac BETWEEN 0 AND 1
-- check: load_ratio >= 0 AND received_ratio >= 0
-- reads: activities_of, categorised_activities_of, collective_operation, possible_splits
CREATE OR REPLACE MACRO expert_load_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
computing AS (
    SELECT
        job,
        rank,
        count(*) FILTER (kernel_category = 'grouped_gemm') AS expert_kernel_count,
        sum(dur_ns) FILTER (kernel_category = 'grouped_gemm') AS expert_ns,
        sum(dur_ns) AS computing_ns
    FROM categorised_activities_of(only_jobs, only_ranks, only_steps)
    WHERE kind = 'computation'
    GROUP BY job, rank
),
exchanges AS (
    SELECT
        a.job,
        a.rank,
        a.dur_ns,
        CASE
            WHEN NOT contains(a.in_split_sizes, '...')
            THEN list_sum(possible_splits(a.in_split_sizes))
        END AS sent_row_count,
        CASE
            WHEN NOT contains(a.out_split_sizes, '...')
            THEN list_sum(possible_splits(a.out_split_sizes))
        END AS received_row_count
    FROM activities_of(only_jobs, only_ranks, only_steps) AS a
    WHERE collective_operation(a.collective_name) = 'all_to_all'
      AND a.in_split_sizes || a.out_split_sizes <> '[][]'
),
exchanged AS (
    SELECT
        job,
        rank,
        count(*) AS all_to_all_count,
        sum(dur_ns) AS all_to_all_ns,
        CASE WHEN count(sent_row_count) = count(*) THEN sum(sent_row_count) END
            AS sent_row_count,
        CASE WHEN count(received_row_count) = count(*) THEN sum(received_row_count) END
            AS received_row_count
    FROM exchanges
    GROUP BY job, rank
),
of_ranks AS (
    SELECT
        coalesce(c.job, e.job) AS job,
        coalesce(c.rank, e.rank) AS rank,
        coalesce(c.expert_kernel_count, 0) AS expert_kernel_count,
        coalesce(c.expert_ns, 0) AS expert_ns,
        c.computing_ns,
        coalesce(e.all_to_all_count, 0) AS all_to_all_count,
        coalesce(e.all_to_all_ns, 0) AS all_to_all_ns,
        e.sent_row_count,
        e.received_row_count
    FROM computing AS c
    FULL JOIN exchanged AS e ON e.job = c.job AND e.rank = c.rank
)
SELECT
    job,
    rank,
    expert_kernel_count,
    expert_ns::BIGINT AS expert_ns,
    expert_ns / nullif(computing_ns, 0) AS expert_frac,
    expert_ns / nullif(avg(expert_ns) OVER of_job, 0) AS load_ratio,
    all_to_all_count,
    all_to_all_ns::BIGINT AS all_to_all_ns,
    sent_row_count::BIGINT AS sent_row_count,
    received_row_count::BIGINT AS received_row_count,
    received_row_count / nullif(avg(received_row_count) OVER of_job, 0) AS received_ratio
FROM of_ranks
WHERE expert_kernel_count + all_to_all_count > 0
WINDOW of_job AS (PARTITION BY job)
ORDER BY job, rank;
