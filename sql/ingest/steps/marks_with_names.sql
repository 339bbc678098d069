-- One row per host span with a name in the table step_names.
--
-- If a name comes again on its thread after a step with another number, the numbers start again,
-- such as those of batches in each epoch. Then they are not the numbers of steps.
--
-- If SGLang decodes speculatively, a step is a pass of the target model, with the passes of the
-- draft model after it. They have the same number. Drafts before the first step have no row.
--
--     step[TARGET_VERIFY bs=2]  [====)                      [====)
--     step[DRAFT_EXTEND bs=2]          [==)                        [==)
--     step[DECODE bs=2]                     [=)  [=)                    [=)  [=)
--     number                    0                           1
WITH
speculative AS (
    SELECT count(*) > 0 AS is_speculative
    FROM step_names
    WHERE marked_by = 'SGLang' AND prefix(name, 'step[TARGET_VERIFY')
),
marks AS (
    SELECT
        n.number,
        e.name AS step_name,
        n.marked_by,
        e.event_id,
        e.pid,
        e.tid,
        e.start_ns,
        e.dur_ns,
        s.is_speculative,
        s.is_speculative
        AND regexp_matches(e.name, '^(step\[DRAFT_|step\[DECODE[ \]]|draft$|draft_extend$)')
            AS is_draft,
        n.number IS DISTINCT FROM lag(n.number) OVER (
            PARTITION BY e.pid, e.tid ORDER BY e.start_ns, e.event_id
        ) AS is_other
    FROM trace_events AS e
    JOIN step_names AS n ON n.name = e.name AND n.is_python = (e.cat = 'python_function')
    CROSS JOIN speculative AS s
    WHERE e.ph = 'X'
      AND is_host_op(e.cat)
      AND (n.marked_by = '--steps' OR e.cat = 'user_annotation')
),
starting_again AS (
    SELECT step_name
    FROM marks
    WHERE is_other
    GROUP BY pid, tid, step_name
    HAVING count(*) > 1
)
SELECT
    CASE
        WHEN is_speculative
        THEN count(*) FILTER (NOT is_draft) OVER (ORDER BY start_ns, event_id) - 1
        WHEN NOT EXISTS (FROM starting_again)
        THEN number
    END AS number,
    * EXCLUDE (number, is_speculative, is_draft, is_other)
FROM marks
QUALIFY NOT is_draft OR count(*) FILTER (NOT is_draft) OVER (ORDER BY start_ns, event_id) > 0
