-- How much longer each rank works than its peers: in all kernels alike, and in single kernels.
--
-- `rank_kernels`: rows of shared_rank_kernels, which defines a kernel's usual time.
-- `comm_calls`: rows of shared_comm_calls.
--
-- Returns one row per job and rank, with times per step or in the trace:
--
--     work_ns      time of the rank in all kernels, and usual_ns the usual time of all of them
--     slow_times   how many times their usual time the kernels take: the median over the usual
--                  time, without the kernel that differs most. 1 if below 1 + `slower_frac`
--     slow_ns      what the kernels take longer because of slow_times
--     uneven_ns    time in uneven kernels minus slow_times the mean of all ranks
--     uneven       uneven kernel that differs most from the mean: short name, op_id, even_ns, and
--                  mean_ns of the other ranks
--
--     slow_gain_ns      time by which a step of the job gets shorter without the rank's slow_ns
--     all_slow_gain_ns  the same without slow_ns of all ranks
--     uneven_gain_ns    the same if all ranks have the mean of all uneven kernels
--
-- Only kernels that all ranks call equally often count: with more calls, a rank does something
-- else. A kernel is uneven if its time on a rank, divided by
-- slow_times, differs from the usual time by `work_frac` of usual_ns, and by `kernel_frac` of the
-- kernel's own usual time. Kernels of experts belong to expert_imbalance.
--
-- Without the excess of a rank, a step gets shorter as far as each other rank waits, as in
-- ranked_findings. With the mean of uneven kernels, the other ranks take longer and wait less.
--
-- reads: limit_of
CREATE OR REPLACE MACRO shared_slow_ranks(rank_kernels, comm_calls) AS TABLE
WITH
ordered AS (
    SELECT
        job,
        rank,
        total_ns / usual_ns AS times,
        usual_ns,
        row_number() OVER (PARTITION BY job, rank ORDER BY total_ns - usual_ns DESC) AS place
    FROM query_table(rank_kernels)
    WHERE is_shared AND usual_ns > 0
),
halves AS (
    SELECT
        job,
        rank,
        times,
        2 * sum(usual_ns) OVER (
            PARTITION BY job, rank ORDER BY times ROWS UNBOUNDED PRECEDING
        ) >= sum(usual_ns) OVER (PARTITION BY job, rank) AS is_upper
    FROM ordered
    WHERE place > 1
),
medians AS (
    SELECT job, rank, min(times) AS times
    FROM halves
    WHERE is_upper
    GROUP BY job, rank
),
factors AS (
    SELECT k.*, m.times >= 1 + limit_of('straggler', 'slower_frac') AS is_slow, m.times
    FROM query_table(rank_kernels) AS k
    LEFT JOIN medians AS m ON m.job = k.job AND m.rank = k.rank
),
evened AS MATERIALIZED (
    SELECT
        * EXCLUDE (is_slow, times),
        CASE WHEN is_slow THEN times ELSE 1 END AS slow_times,
        total_ns / slow_times AS even_ns,
        CASE WHEN 2 * total_ns >= (1 + slow_times) * usual_ns THEN total_ns - even_ns ELSE 0 END
            AS slow_ns,
        sum(usual_ns) OVER (PARTITION BY job, rank) AS all_usual_ns
    FROM factors
),
uneven_names AS (
    SELECT job, name
    FROM evened
    WHERE is_shared AND NOT is_expert
    GROUP BY job, name
    HAVING bool_or(
        abs(even_ns - usual_ns) >= limit_of('load_imbalance', 'work_frac') * all_usual_ns
        AND abs(even_ns - usual_ns) >= limit_of('load_imbalance', 'kernel_frac') * usual_ns
    )
),
sums AS MATERIALIZED (
    SELECT
        e.job,
        e.rank,
        any_value(e.unit_count) AS unit_count,
        any_value(e.per_unit) AS per_unit,
        any_value(e.slow_times) AS slow_times,
        sum(e.total_ns)::BIGINT AS work_ns,
        sum(e.usual_ns)::BIGINT AS usual_ns,
        sum(e.slow_ns)::BIGINT AS slow_ns,
        coalesce(
            sum((e.even_ns - e.mean_ns) * e.slow_times * (1 - 1 / e.rank_count))
                FILTER (n.name IS NOT NULL),
            0
        )::BIGINT AS uneven_ns,
        max({
            'more_ns': e.even_ns - e.mean_ns,
            'name': e.short_name,
            'op_id': e.op_id,
            'even_ns': e.even_ns,
            'mean_ns': e.mean_ns
        }) FILTER (n.name IS NOT NULL) AS uneven
    FROM evened AS e
    LEFT JOIN uneven_names AS n ON n.job = e.job AND n.name = e.name
    GROUP BY e.job, e.rank
),
waits AS (
    SELECT job, rank, sum(exposed_ns) AS exposed_ns, sum(exposed_ns - waited_ns) AS moved_ns
    FROM query_table(comm_calls)
    WHERE is_whole
    GROUP BY job, rank
),
measured AS MATERIALIZED (
    SELECT
        s.*,
        (w.exposed_ns // s.unit_count)::BIGINT AS exposed_ns,
        (w.moved_ns // s.unit_count)::BIGINT AS moved_ns
    FROM sums AS s
    JOIN waits AS w ON w.job = s.job AND w.rank = s.rank
),
others AS (
    SELECT
        m.job,
        m.rank,
        min(o.exposed_ns - least(o.moved_ns, m.moved_ns)) AS wait_ns,
        min(o.exposed_ns + o.uneven_ns - least(o.moved_ns, m.moved_ns)) AS uneven_wait_ns
    FROM measured AS m
    JOIN measured AS o ON o.job = m.job AND o.rank <> m.rank
    GROUP BY m.job, m.rank
)
SELECT
    m.job,
    m.rank,
    m.per_unit,
    m.work_ns,
    m.usual_ns,
    m.slow_times,
    m.slow_ns,
    m.uneven_ns,
    m.uneven,
    CASE WHEN m.slow_ns > 0 THEN least(m.slow_ns, o.wait_ns) END AS slow_gain_ns,
    min(m.exposed_ns + m.slow_ns) OVER of_job - min(m.exposed_ns) OVER of_job AS all_slow_gain_ns,
    CASE WHEN m.uneven_ns > 0 THEN least(m.uneven_ns, greatest(o.uneven_wait_ns, 0)) END
        AS uneven_gain_ns
FROM measured AS m
JOIN others AS o ON o.job = m.job AND o.rank = m.rank
WINDOW of_job AS (PARTITION BY m.job);
