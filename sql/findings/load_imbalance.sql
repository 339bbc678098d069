-- The same kernels take longer on some ranks, so that the other ranks wait.
--
-- Gain: the excess over the mean of all ranks, as far as other ranks wait for it. If the rank is
-- slower in all kernels, that time belongs to straggler, and kernels of experts belong to
-- expert_imbalance.
--
-- needs: collectives, ranks
--
-- reads: host_ops, humane_ns
CREATE OR REPLACE MACRO find_load_imbalance(only_jobs, slow_ranks) AS TABLE
WITH
slowest AS (
    SELECT *, (uneven.even_ns * slow_times)::BIGINT AS kernel_ns
    FROM query_table(slow_ranks)
    WHERE uneven_gain_ns > 0
    QUALIFY row_number() OVER (PARTITION BY job ORDER BY uneven_ns DESC, rank) = 1
),
told AS (
    SELECT s.*, coalesce(h.name, s.uneven.name) AS subject
    FROM slowest AS s
    LEFT JOIN host_ops AS h
        ON h.job = s.job
        AND h.rank = s.rank
        AND h.event_id = s.uneven.op_id
        AND (only_jobs IS NULL OR list_contains(only_jobs, h.job))
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    subject,
    format('Rank {} has more work than the others in {}', rank, subject) AS title,
    format(
        'Rank {} spends {} {} in {}{}, and the other ranks {} on average. They wait for rank {}.',
        rank,
        humane_ns(kernel_ns),
        per_unit,
        uneven.name,
        CASE WHEN subject <> uneven.name THEN ' of ' || subject ELSE '' END,
        humane_ns(uneven.mean_ns),
        rank
    ) AS evidence,
    json_object(
        'kernel', uneven.name,
        'kernel_ns', kernel_ns,
        'mean_of_others_ns', round(uneven.mean_ns)::BIGINT,
        'excess_ns', uneven_ns
    ) AS numbers,
    uneven_gain_ns AS gain_ns,
    'excess over the mean of ranks' AS gain_method,
    'medium' AS confidence,
    'Give all ranks the same work: divide tables, layers or sequences in another way.' AS advice,
    'rank_imbalance' AS see,
    true AS is_of_job
FROM told;
