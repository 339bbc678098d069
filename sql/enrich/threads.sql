-- The threads of the host, and which of them run the training loop or its backward passes.
CREATE OR REPLACE TEMP TABLE threads AS
SELECT
    row_number() OVER () AS thread,
    pid,
    tid,
    bool_or(cat = 'user_annotation' AND prefix(name, 'ProfilerStep#')) AS has_steps,
    bool_or(cat IN ('cpu_op', 'Operator') AND contains(name, 'autograd::')) AS has_autograd
FROM trace_events
WHERE ph = 'X' AND is_host_op(cat)
GROUP BY pid, tid;
