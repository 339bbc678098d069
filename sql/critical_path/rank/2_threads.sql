-- One row per thread of the window: whether it is the training thread (is_training), and whether it
-- runs backward passes (is_autograd).
--
-- The training thread is the first of these that exists:
--   * the thread of the window's step or annotation (path_pid, path_tid; NULL if the window is a
--     whole trace)
--   * the thread with the steps
--   * the thread with the most spans outside backward passes
--
-- is_autograd is true if any span of the thread belongs to a backward pass.
CREATE OR REPLACE TEMP TABLE path_threads AS
WITH
threads AS (
    SELECT
        thread,
        pid,
        tid,
        bool_or(is_backward) AS is_autograd,
        count(*) FILTER (NOT is_backward) AS forward_count
    FROM path_spans
    GROUP BY thread, pid, tid
),
with_steps AS (
    SELECT DISTINCT s.pid, s.tid, true AS has_steps
    FROM steps AS s
    WHERE s.job = getvariable('path_job') AND s.rank = getvariable('path_rank')
),
by_likelihood AS (
    SELECT
        threads.*,
        row_number() OVER (
            ORDER BY
                threads.pid = getvariable('path_pid') AND threads.tid = getvariable('path_tid')
                    DESC NULLS LAST,
                with_steps.has_steps NULLS LAST,
                forward_count DESC,
                thread
        ) AS place
    FROM threads
    LEFT JOIN with_steps
        ON with_steps.pid IS NOT DISTINCT FROM threads.pid
        AND with_steps.tid IS NOT DISTINCT FROM threads.tid
)
SELECT thread, pid, tid, place = 1 AS is_training, is_autograd
FROM by_likelihood;
