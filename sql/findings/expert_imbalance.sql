-- Experts of some ranks get more tokens than others, so that the other ranks wait.
--
-- Gain: what the kernels of experts take longer on the slowest rank than on the mean of all ranks,
-- added up over calls at the same place of a step, but at most the mean wait of the ranks: in
-- all-to-alls, if there are any, else in all collectives. If a rank is slower in all kernels, that
-- time belongs to straggler.
--
-- needs: collectives, ranks
--
-- reads: gpu_activities, host_calls, humane_ns, in_measured_steps, limit_of
CREATE OR REPLACE MACRO find_expert_imbalance(
    only_jobs, rank_kernels, slow_ranks, comm_kinds, steady
) AS TABLE
WITH
picked AS (
    SELECT a.*
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
calls AS (
    SELECT
        a.job,
        a.rank,
        a.step,
        a.name,
        a.op_id,
        a.dur_ns,
        a.dur_ns / w.slow_times AS even_ns,
        k.rank_count,
        k.unit_count,
        k.per_unit,
        row_number() OVER (
            PARTITION BY a.job, a.rank, a.step, a.name ORDER BY a.start_ns, a.event_id
        ) AS place
    FROM in_measured_steps(picked, steady) AS a
    JOIN query_table(rank_kernels) AS k
        ON k.job = a.job AND k.rank = a.rank AND k.name = a.name AND k.is_expert
    JOIN query_table(slow_ranks) AS w ON w.job = a.job AND w.rank = a.rank
),
compared AS (
    SELECT
        *,
        sum(even_ns) OVER at_place / rank_count AS mean_ns,
        max(even_ns) OVER at_place AS most_ns,
        count(*) OVER at_place AS member_count
    FROM calls
    WINDOW at_place AS (PARTITION BY job, step, name, place)
),
of_ranks AS (
    SELECT
        job,
        rank,
        any_value(rank_count) AS rank_count,
        any_value(unit_count) AS unit_count,
        any_value(per_unit) AS per_unit,
        sum(dur_ns) / any_value(unit_count) AS total_ns,
        sum(even_ns - mean_ns) / any_value(unit_count) AS over_ns,
        sum((most_ns - mean_ns) / member_count) / any_value(unit_count) AS part_ns,
        max({'ns': dur_ns, 'op_id': op_id}).op_id AS op_id
    FROM compared
    GROUP BY job, rank
),
waits AS (
    SELECT
        job,
        coalesce(
            sum(waited_ns) FILTER (label = 'all_to_all'), sum(waited_ns)
        ) / any_value(rank_count) AS waited_ns
    FROM query_table(comm_kinds)
    GROUP BY job
),
of_jobs AS (
    SELECT
        r.job,
        any_value(r.per_unit) AS per_unit,
        arg_max(r.rank, r.over_ns) AS hot_rank,
        arg_max(r.op_id, r.over_ns) AS op_id,
        arg_max(r.total_ns, r.over_ns) AS hot_ns,
        sum(r.total_ns) / any_value(r.rank_count) AS mean_ns,
        2 * max(r.over_ns) >= sum(r.part_ns) AS is_one,
        least(sum(r.part_ns), any_value(w.waited_ns))::BIGINT AS gain_ns
    FROM of_ranks AS r
    JOIN waits AS w ON w.job = r.job
    GROUP BY r.job
    HAVING sum(r.part_ns)
        >= limit_of('load_imbalance', 'kernel_frac') * sum(r.total_ns) / any_value(r.rank_count)
),
told AS (
    SELECT j.*, coalesce(h.name, 'experts') AS subject
    FROM of_jobs AS j
    LEFT JOIN host_calls AS h
        ON h.job = j.job
        AND h.rank = j.hot_rank
        AND h.event_id = j.op_id
        AND (only_jobs IS NULL OR list_contains(only_jobs, h.job))
)
SELECT
    r.job,
    r.rank,
    NULL::VARCHAR AS topic,
    t.subject,
    CASE
        WHEN t.is_one THEN format('The experts of rank {} have more work than others', t.hot_rank)
        ELSE 'Experts have different amounts of work'
    END AS title,
    CASE
        WHEN t.is_one
        THEN format(
            'Rank {} spends {} {} in kernels of experts ({}), and all ranks {} on average. The '
            || 'others wait for it.',
            t.hot_rank,
            humane_ns(t.hot_ns),
            t.per_unit,
            t.subject,
            humane_ns(t.mean_ns)
        )
        ELSE format(
            'In kernels of experts ({}), the slowest rank of each call takes {} {} longer than the '
            || 'mean of all ranks. Different ranks are the slowest.',
            t.subject,
            humane_ns(t.gain_ns),
            t.per_unit
        )
    END AS evidence,
    json_object(
        'expert_ns', r.total_ns::BIGINT,
        'mean_ns', t.mean_ns::BIGINT,
        'excess_ns', r.over_ns::BIGINT,
        'hot_rank', CASE WHEN t.is_one THEN t.hot_rank END
    ) AS numbers,
    t.gain_ns,
    'excess over the mean of ranks' AS gain_method,
    'medium' AS confidence,
    'Balance the tokens of the experts: a stronger balancing loss or bias in the router, a '
    || 'capacity limit, or popular experts on several ranks.' AS advice,
    'rank_imbalance' AS see,
    true AS is_of_job
FROM told AS t
JOIN of_ranks AS r ON r.job = t.job AND (NOT t.is_one OR r.rank = t.hot_rank)
WHERE t.gain_ns > 0;
