-- A rank's operators, calls and kernels take what those of the same name take on the median rank.
--
-- In this scenario, one rank (what_if_rank) changes. For each name, the query computes the mean
-- delay of its edges on each rank, and the median of these means. If the mean of what_if_rank is
-- longer than the median, its edges with this name are shortened in proportion. The time between
-- the rank's operators changes in the same way, as if it had a name of its own. Communication does
-- not change.
WITH
own_work AS (
    SELECT e.number, e.rank, coalesce(event.name, '') AS name, e.delay_ns
    FROM job_edges AS e
    LEFT JOIN job_events AS event ON event.rank = e.rank AND event.event_id = e.event_id
    WHERE (e.edge = 'operator' AND e.bound_by <> 'gpu_communication_bound')
       OR (e.edge = 'dependency' AND e.why IS NULL)
),
means AS (
    SELECT rank, name, avg(delay_ns) AS mean_ns
    FROM own_work
    GROUP BY rank, name
),
medians AS (
    SELECT name, quantile_disc(mean_ns, 0.5) AS mean_ns
    FROM means
    GROUP BY name
)
SELECT w.number, CAST(round(w.delay_ns * median.mean_ns / own.mean_ns) AS BIGINT) AS delay_ns
FROM own_work AS w
JOIN means AS own ON own.rank = w.rank AND own.name = w.name
JOIN medians AS median ON median.name = w.name
WHERE w.rank = getvariable('what_if_rank') AND own.mean_ns > median.mean_ns
