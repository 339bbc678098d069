-- What has this name, or is bound by it, takes so many times less.
--
-- In this scenario, the time of each edge with the name what_if_subject is divided by
-- what_if_factor. The name is one of these:
--   * a value of bound_by
--   * the name or short name of a kernel, operator, call or annotation
--
-- If the name is an operator or annotation, only its self time changes. If the name is a collective
-- or message, only the transfer time changes: the ranks still wait until the last rank has come.
WITH
events AS (
    SELECT rank, event_id
    FROM job_events
    WHERE getvariable('what_if_subject') IN (name, short_name)
),
named AS (
    SELECT
        e.number,
        e.delay_ns,
        coalesce(m.transfer_ns, e.delay_ns) AS own_ns
    FROM job_edges AS e
    LEFT JOIN events ON events.rank = e.rank AND events.event_id = e.event_id
    LEFT JOIN job_members AS m
        ON e.bound_by = 'gpu_communication_bound' AND m.rank = e.rank AND m.event_id = e.event_id
    WHERE e.edge = 'operator'
      AND (events.event_id IS NOT NULL OR e.bound_by = getvariable('what_if_subject'))
)
SELECT number, delay_ns - own_ns + round(own_ns / getvariable('what_if_factor'))::BIGINT AS delay_ns
FROM named
