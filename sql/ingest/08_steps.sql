-- One row per step of the trace, in the order in which the steps begin.
SELECT
    step_number(name) AS step,
    start_ns,
    start_ns + dur_ns AS end_ns
FROM whole_events
WHERE ph = 'X'
  AND prefix(name, 'ProfilerStep')
  AND step_number(name) IS NOT NULL
  AND is_host_op(cat)
  AND cat <> 'python_function'
ORDER BY start_ns, event_id
