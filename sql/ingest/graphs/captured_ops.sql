-- The rows of captured_ops of one file: its graphs, their launches, and the operations around them.
--
-- Reads the views captured_host_ops and captured_events (the tables of the file). Variables:
--
--     first_graph     number of the file's first graph
--     first_id        captured_id of the file's first row
--     file_name       the file; the name of graphs without an annotation
--     file_batch      batch size of all graphs of the file; NULL: not known
--
-- What lies between StreamBeginCapture and StreamEndCapture of a thread is one graph. Launches of
-- other threads in this time belong to it, too, if they are not in a capture of their own thread:
-- autograd launches the backward pass from a thread of its own.
WITH RECURSIVE
bounds AS (
    SELECT
        event_id,
        pid,
        tid,
        annotation_id,
        contains(name, 'BeginCapture') AS is_begin,
        start_ns,
        end_ns,
        lead(start_ns) OVER same_thread AS until_ns,
        lead(contains(name, 'EndCapture')) OVER same_thread AS is_ended
    FROM captured_host_ops
    WHERE is_runtime_call(cat) AND regexp_matches(name, 'Stream(Begin|End)Capture')
    WINDOW same_thread AS (PARTITION BY pid, tid ORDER BY start_ns, event_id)
),
captures AS (
    SELECT
        getvariable('first_graph') + row_number() OVER (ORDER BY b.start_ns, b.event_id) - 1
            AS graph,
        b.pid,
        b.tid,
        b.end_ns AS begin_ns,
        b.until_ns,
        n.name AS annotation
    FROM bounds AS b
    LEFT JOIN captured_host_ops AS n ON n.event_id = b.annotation_id
    WHERE b.is_begin AND b.is_ended
),
calls AS (
    SELECT event_id, parent_id, pid, tid, start_ns, name
    FROM captured_host_ops
    WHERE is_runtime_call(cat)
      AND regexp_matches(name, 'Launch(Cooperative)?Kernel|Mem(cpy|set)')
),
on_thread AS (
    SELECT calls.event_id, captures.graph
    FROM calls
    ASOF JOIN captures
        ON captures.pid IS NOT DISTINCT FROM calls.pid
        AND captures.tid IS NOT DISTINCT FROM calls.tid
        AND captures.begin_ns <= calls.start_ns
    WHERE calls.start_ns < captures.until_ns
),
on_other_threads AS (
    SELECT calls.event_id, captures.graph
    FROM calls
    ANTI JOIN on_thread ON on_thread.event_id = calls.event_id
    ASOF JOIN captures
        ON captures.pid IS NOT DISTINCT FROM calls.pid
        AND captures.begin_ns <= calls.start_ns
    WHERE calls.start_ns < captures.until_ns
),
launches AS (
    FROM on_thread
    UNION ALL
    FROM on_other_threads
),
-- The operations around a launch that began after the capture did.
around AS (
    SELECT launches.graph, h.event_id, h.parent_id
    FROM launches
    JOIN captured_host_ops AS h ON h.event_id = launches.event_id
    UNION
    SELECT around.graph, h.event_id, h.parent_id
    FROM around
    JOIN captured_host_ops AS h ON h.event_id = around.parent_id
    JOIN captures ON captures.graph = around.graph AND captures.begin_ns <= h.start_ns
),
nodes AS (
    SELECT
        launches.graph,
        launches.event_id,
        row_number() OVER (
            PARTITION BY launches.graph ORDER BY e.start_ns, launches.event_id
        ) - 1 AS node,
        CASE
            WHEN contains(e.name, 'Memcpy') THEN 'memcpy'
            WHEN contains(e.name, 'Memset') THEN 'memset'
            ELSE 'kernel'
        END AS node_kind,
        nullif(json_extract_string(e.args, 'kernel'), '') AS kernel_name,
        TRY_CAST(json_extract_string(e.args, 'grid') AS BIGINT[]) AS grid
    FROM launches
    JOIN captured_events AS e ON e.event_id = launches.event_id
),
-- The depth of the outermost operation of each graph's threads.
tops AS (
    SELECT around.graph, h.root_id, min(h.depth) AS depth
    FROM around
    JOIN captured_host_ops AS h ON h.event_id = around.event_id
    GROUP BY around.graph, h.root_id
),
-- Operators that launch nothing, but show the sizes of an operator's weights: views of tensors with
-- three dimensions, as in call_contexts.
showing AS (
    SELECT around.graph, h.event_id
    FROM captured_host_ops AS h
    JOIN captured_host_ops AS op ON op.event_id = h.op_id AND NOT prefix(op.name, 'aten::')
    JOIN around ON around.event_id = op.event_id
    WHERE is_operator(h.cat)
      AND h.name = 'aten::view'
      AND regexp_matches(h.input_dims, '^\[\s*\[\d+,\s*\d+,\s*\d+\]')
      AND h.event_id NOT IN (SELECT event_id FROM around)
),
kept AS (
    SELECT graph, event_id, true AS is_around FROM around
    UNION ALL
    SELECT graph, event_id, false AS is_around FROM showing
),
-- An operation has a lower number than all operations inside it.
members AS (
    SELECT
        kept.graph,
        kept.is_around,
        h.*,
        getvariable('first_id')
            + row_number() OVER (ORDER BY kept.graph, h.start_ns, h.end_ns DESC, h.event_id) - 1
            AS captured_id
    FROM kept
    JOIN captured_host_ops AS h ON h.event_id = kept.event_id
)
SELECT
    m.graph,
    coalesce(captures.annotation, getvariable('file_name')) AS graph_name,
    coalesce(
        TRY_CAST(nullif(regexp_extract(captures.annotation, 'capture\D*(\d+)', 1), '') AS BIGINT),
        getvariable('file_batch')
    ) AS batch_size,
    nodes.node,
    nodes.node_kind,
    nodes.kernel_name,
    nodes.grid,
    m.captured_id,
    m.is_around,
    m.cat,
    m.name,
    m.depth - tops.depth AS depth,
    parents.captured_id AS parent_id,
    ops.captured_id AS op_id,
    annotations.captured_id AS annotation_id,
    modules.captured_id AS module_id,
    m.is_backward,
    m.stack_hash,
    m.input_dims,
    m.input_types,
    m.concrete_inputs
FROM members AS m
JOIN captures ON captures.graph = m.graph
JOIN tops ON tops.graph = m.graph AND tops.root_id = m.root_id
LEFT JOIN nodes ON nodes.graph = m.graph AND nodes.event_id = m.event_id
LEFT JOIN members AS parents ON parents.graph = m.graph AND parents.event_id = m.parent_id
LEFT JOIN members AS ops ON ops.graph = m.graph AND ops.event_id = m.op_id
LEFT JOIN members AS annotations
    ON annotations.graph = m.graph AND annotations.event_id = m.annotation_id
LEFT JOIN members AS modules ON modules.graph = m.graph AND modules.event_id = m.module_id
ORDER BY m.captured_id
