-- One row per thread of the host, with the shift (shift_ns) that puts its spans on a common line.
--
-- has_steps is true if steps run on the thread. has_autograd is true if operators of `autograd::`
-- run on the thread.
--
-- On a line, the threads lie one after the other. A span that begins at start_ns begins at
-- `start_ns + shift_ns` on the line. So one number gives both the thread and the instant.
--
-- Usually one line holds all threads. If time stamps are decades apart, the threads' times together
-- take more than 64 bits. The threads then lie on several lines.
--
-- Ids of threads are cut before they are grouped, as in trace_events. Names are not cut, because
-- `autograd::` may stand after the cut.
CREATE OR REPLACE TEMP TABLE threads AS
WITH
spans AS (
    SELECT
        CASE WHEN has_long_names() THEN cut(pid) ELSE pid END AS pid,
        CASE WHEN has_long_names() THEN cut(tid) ELSE tid END AS tid,
        cat = 'user_annotation' AND prefix(name, 'ProfilerStep#')
        OR event_id IN (SELECT event_id FROM step_marks WHERE marked_by <> 'PyTorch') AS is_step,
        is_operator(cat) AND contains(name, 'autograd::') AS is_autograd,
        start_ns,
        start_ns + dur_ns AS end_ns
    FROM whole_events
    WHERE ph = 'X' AND is_host_op(cat)
),
found AS (
    SELECT
        pid,
        tid,
        bool_or(is_step) AS has_steps,
        bool_or(is_autograd) AS has_autograd,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns
    FROM spans
    GROUP BY pid, tid
),
on_lines AS (
    SELECT
        row_number() OVER () AS thread,
        *,
        -- 1 ns more, so that the end of a thread and the start of the next thread never meet.
        end_ns + 1 - start_ns AS length_ns,
        (sum(length_ns) OVER (ROWS UNBOUNDED PRECEDING) // (1::HUGEINT << 61))::INTEGER AS line
    FROM found
)
SELECT
    thread,
    pid,
    tid,
    has_steps,
    has_autograd,
    line,
    (
        sum(length_ns) OVER (PARTITION BY line ORDER BY thread ROWS UNBOUNDED PRECEDING)
        - (end_ns + 1)
    )::BIGINT AS shift_ns
FROM on_lines;
