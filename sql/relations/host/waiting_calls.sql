-- One row per runtime or driver call that makes the host wait for a device.
--
-- `only_jobs`, `only_ranks`: jobs and ranks to read (NULL: all).
-- `only_steps`: steps in which the call begins (NULL: the whole trace).
--
-- Returns job, rank, event_id, op_id and kind. `kind` is `wait` if waits_for_device holds for the
-- call's name. Other calls have the kind `copy`. A call of the kind `copy` meets one of these
-- conditions:
--
--   * Its copy made the host wait (blocks_host).
--   * It has no copy on the GPU, but copies_synchronously holds for its name.
--   * It copies to the host, and the next call that the same operator makes on the same thread is a
--     `wait`.
--
-- reads: blocks_host, copies_synchronously, copy_kind, gpu_activities, host_ops, is_runtime_call,
--   waits_for_device
CREATE OR REPLACE MACRO waiting_calls(only_jobs, only_ranks, only_steps) AS TABLE
WITH
runtime_calls AS MATERIALIZED (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        h.pid,
        h.tid,
        h.op_id,
        waits_for_device(h.name) AS is_wait,
        copies_synchronously(h.name) AS is_synchronous_copy,
        h.step,
        h.start_ns,
        h.end_ns
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
      AND is_runtime_call(h.cat)
),
activities AS (
    SELECT
        a.job,
        a.rank,
        a.name,
        a.launch_id,
        a.launch_name,
        a.launch_end_ns >= a.end_ns AS outlasts,
        CASE WHEN a.kind = 'memory' THEN copy_kind(a.name) END AS way
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND a.launch_id IS NOT NULL
),
-- One row per call that launches only copies. The launch of a graph does not count as a copy, even
-- if the graph contains only copies.
copies AS MATERIALIZED (
    SELECT
        job,
        rank,
        launch_id,
        bool_or(blocks_host(launch_name, way, name, outlasts)) AS blocks,
        bool_or(way = 'Memcpy DtoH') AS is_to_host
    FROM activities
    GROUP BY job, rank, launch_id
    HAVING bool_and(coalesce(prefix(way, 'Memcpy '), false))
       AND NOT bool_or(coalesce(contains(launch_name, 'GraphLaunch'), false))
),
-- All runtime calls of an operator that copies to the host with a call that does not block. The
-- calls are on the thread of that copying call. busy_until_ns is the latest end of the earlier
-- calls. A call that starts before busy_until_ns is inside another call.
beside_copies AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY job, rank, pid, tid, op_id
            ORDER BY start_ns, end_ns DESC, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS busy_until_ns
    FROM runtime_calls
    SEMI JOIN (
        SELECT r.job, r.rank, r.pid, r.tid, r.op_id
        FROM runtime_calls AS r
        JOIN copies AS c
            ON c.job = r.job AND c.rank = r.rank AND c.launch_id = r.event_id
        WHERE c.is_to_host AND NOT c.blocks
    ) AS places
        ON places.job = runtime_calls.job
        AND places.rank = runtime_calls.rank
        AND places.pid IS NOT DISTINCT FROM runtime_calls.pid
        AND places.tid IS NOT DISTINCT FROM runtime_calls.tid
        AND places.op_id IS NOT DISTINCT FROM runtime_calls.op_id
),
-- Whether the next call is a wait. Calls inside another call are left out.
followed AS (
    SELECT
        job,
        rank,
        event_id,
        lead(is_wait) OVER (
            PARTITION BY job, rank, pid, tid, op_id
            ORDER BY start_ns, end_ns DESC, event_id
        ) AS is_waited_for
    FROM beside_copies
    WHERE busy_until_ns IS NULL OR start_ns >= busy_until_ns
)
SELECT
    r.job,
    r.rank,
    r.event_id,
    r.op_id,
    CASE WHEN r.is_wait THEN 'wait' ELSE 'copy' END AS kind
FROM runtime_calls AS r
LEFT JOIN copies AS c
    ON c.job = r.job AND c.rank = r.rank AND c.launch_id = r.event_id
LEFT JOIN followed AS f
    ON f.job = r.job AND f.rank = r.rank AND f.event_id = r.event_id
WHERE (only_steps IS NULL OR list_contains(only_steps, r.step))
  AND (
      r.is_wait
      OR coalesce(c.blocks, r.is_synchronous_copy)
      OR (c.is_to_host AND f.is_waited_for)
  );
