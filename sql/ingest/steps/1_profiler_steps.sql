-- One row per annotation ProfilerStep#N.
SELECT
    step_number(name) AS number,
    name AS step_name,
    'PyTorch' AS marked_by,
    event_id,
    pid,
    tid,
    start_ns,
    dur_ns
FROM whole_events
WHERE ph = 'X'
  AND prefix(name, 'ProfilerStep')
  AND step_number(name) IS NOT NULL
  AND is_host_op(cat)
  AND cat <> 'python_function'
