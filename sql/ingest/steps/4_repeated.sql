-- One row per annotation that is likely to be an iteration of the program's own loop.
--
-- Annotations are alike if their names differ only in digits. An annotation and those alike are
-- iterations if all of these hold:
--
--   * There are at least 3 of them on one thread.
--   * They cover at least 90 % of the time from the first start to the last end, so one follows the
--     other.
--   * This time is at least half of the time of all annotations and runtime calls.
--   * PyTorch does not write them.
--
-- If several names qualify, the one that covers most counts, then the one with fewer annotations.
-- A single number in the name is the number of the step, if no name comes twice: the number in
-- `forward bs=8` is not one.
WITH
calls AS (
    SELECT min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns
    FROM trace_events
    WHERE ph = 'X' AND (cat = 'user_annotation' OR is_runtime_call(cat))
),
annotations AS (
    SELECT
        event_id,
        name,
        pid,
        tid,
        start_ns,
        dur_ns,
        start_ns + dur_ns AS end_ns,
        regexp_replace(name, '\d+', '0', 'g') AS alike
    FROM trace_events
    WHERE ph = 'X'
      AND cat = 'user_annotation'
      AND NOT regexp_matches(
          name,
          '^(##|nccl|c10d|gloo|Optimizer\.|enumerate\(DataLoader|PyTorch Profiler|FSDP|Torch-)'
      )
),
-- How far each annotation goes beyond those before it.
lengths AS (
    SELECT
        *,
        greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) OVER (
            PARTITION BY alike, pid, tid
            ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), start_ns))) AS new_ns
    FROM annotations
),
qualified AS (
    SELECT alike, pid, tid, count(DISTINCT name) = count(*) AS all_differ
    FROM lengths
    GROUP BY alike, pid, tid
    HAVING count(*) >= 3
       AND sum(new_ns) >= 0.9 * (max(end_ns) - min(start_ns))
       AND 2 * (max(end_ns) - min(start_ns)) >= (SELECT end_ns - start_ns FROM calls)
    ORDER BY sum(new_ns) DESC, count(*), alike, pid, tid
    LIMIT 1
)
SELECT
    CASE
        WHEN q.all_differ AND regexp_matches(a.name, '^\D*\d+\D*$')
        THEN TRY_CAST(regexp_extract(a.name, '\d+') AS BIGINT)
    END AS number,
    a.name AS step_name,
    'annotation' AS marked_by,
    a.event_id,
    a.pid,
    a.tid,
    a.start_ns,
    a.dur_ns
FROM annotations AS a
JOIN qualified AS q
    ON q.alike = a.alike
    AND q.pid IS NOT DISTINCT FROM a.pid
    AND q.tid IS NOT DISTINCT FROM a.tid
