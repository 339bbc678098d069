-- One row per collective in which ranks waited for a last rank, if a chosen rank took part in it.
--
-- A row covers the time from the second-to-last arrival to the last arrival (late_ns). Collectives
-- with a late_ns below export_least_late_ns have no row. Messages and collectives with a root have
-- no row, as in stragglers.
--
-- All ranks leave the collective together. So the last rank's call is shorter than the
-- second-to-last rank's call by late_ns, and the query needs no clock to compute late_ns.
WITH
arrivals AS (
    FROM last_arrivals(export_members, export_clocks)
),
calls AS (
    SELECT
        m.collective_id,
        any_value(m.name) AS name,
        any_value(m.process_group) AS process_group,
        min(m.step) AS step,
        any_value(a.last_rank) AS last_rank,
        any_value(a.wait_ns) AS wait_ns,
        min(m.wait_ns) FILTER (m.rank <> a.last_rank) AS late_ns,
        max(m.start_ns + r.shift_ns) FILTER (m.rank = a.last_rank) AS end_ns,
        max(m.start_ns + r.to_aligned_ns) FILTER (m.rank = a.last_rank) AS aligned_end_ns
    FROM export_members AS m
    JOIN arrivals AS a ON a.collective_id = m.collective_id
    JOIN export_ranks AS r ON r.rank = m.rank
    WHERE m.ends_together AND m.member_count > 1
    GROUP BY m.collective_id
    HAVING bool_or(r.is_chosen)
)
SELECT
    concat('rank ', last_rank, ' late: ', name) AS name,
    end_ns - late_ns AS start_ns,
    end_ns,
    json_object(
        'rank', last_rank,
        'collective', name,
        'collective_id', collective_id,
        'process group', process_group,
        'late (us)', late_ns / 1000,
        'waiting caused (us)', wait_ns / 1000
    )::VARCHAR AS arguments
FROM calls
WHERE late_ns >= getvariable('export_least_late_ns')
  AND (getvariable('export_step') IS NULL OR step = getvariable('export_step'))
  AND (
    getvariable('export_window_from_ns') IS NULL
    OR (
        aligned_end_ns > getvariable('export_window_from_ns')
        AND aligned_end_ns - late_ns < getvariable('export_window_until_ns')
    )
  )
ORDER BY start_ns, end_ns
