-- The threads of the host, and which of them run the training loop or its backward passes.
--
-- A thread's times plus its shift put all threads one behind the other: one number then tells both
-- thread and instant. Only where stamps are decades apart does that take more than 64 bits.
CREATE OR REPLACE TEMP TABLE threads AS
WITH
found AS (
    SELECT
        pid,
        tid,
        bool_or(cat = 'user_annotation' AND prefix(name, 'ProfilerStep#')) AS has_steps,
        bool_or(is_operator(cat) AND contains(name, 'autograd::')) AS has_autograd,
        min(start_ns) AS start_ns,
        max(start_ns + dur_ns) AS end_ns
    FROM trace_events
    WHERE ph = 'X' AND is_host_op(cat)
    GROUP BY pid, tid
)
SELECT
    row_number() OVER () AS thread,
    *,
    -- The ends of a thread and the start of the next never meet.
    sum(end_ns + 1 - start_ns) OVER (ROWS UNBOUNDED PRECEDING) - (end_ns + 1) AS shift_ns
FROM found;
