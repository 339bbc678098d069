-- One row per thread of each rank's window: whether it is the training thread (is_training), and
-- whether it runs backward passes (is_autograd).
--
-- The training thread is the first of these that exists:
--   * the thread of the window's step or annotation (pid and tid of job_windows; NULL if the window
--     is a whole trace)
--   * the thread with the steps
--   * the thread with the most spans outside backward passes
--
-- is_autograd is true if any span of the thread belongs to a backward pass.
CREATE OR REPLACE TEMP TABLE path_threads AS
WITH
threads AS (
    SELECT
        rank,
        thread,
        pid,
        tid,
        bool_or(is_backward) AS is_autograd,
        count(*) FILTER (NOT is_backward) AS forward_count
    FROM path_spans
    GROUP BY rank, thread, pid, tid
),
with_steps AS (
    SELECT DISTINCT s.rank, s.pid, s.tid, true AS has_steps
    FROM steps AS s
    WHERE s.job = getvariable('path_job')
      AND list_contains(getvariable('path_ranks'), s.rank)
),
by_likelihood AS (
    SELECT
        threads.*,
        row_number() OVER (
            PARTITION BY threads.rank
            ORDER BY
                threads.pid = w.pid AND threads.tid = w.tid DESC NULLS LAST,
                with_steps.has_steps NULLS LAST,
                forward_count DESC,
                thread
        ) AS place
    FROM threads
    JOIN job_windows AS w ON w.rank = threads.rank
    LEFT JOIN with_steps
        ON with_steps.rank = threads.rank
        AND with_steps.pid IS NOT DISTINCT FROM threads.pid
        AND with_steps.tid IS NOT DISTINCT FROM threads.tid
)
SELECT rank, thread, pid, tid, place = 1 AS is_training, is_autograd
FROM by_likelihood;
