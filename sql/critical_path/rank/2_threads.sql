-- The window's threads: which one trains, and which run autograd's backward passes for it.
--
-- The training thread is the thread of the window's annotation (path_pid, path_tid). For a whole
-- trace it is the thread with the steps. If there are no steps, it is the thread with the most
-- spans outside backward passes.
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
