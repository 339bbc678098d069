-- One row per mark of a step: an annotation ProfilerStep#N, or for other traces a row of
-- step_marks.
--
-- A step may have several rows, since several threads or processes may mark the same step. A
-- profiler may also mark a step twice.
--
-- shared: session
--
-- reads: host_ops, step_marks, step_number
CREATE OR REPLACE VIEW steps AS
SELECT
    h.job,                         -- one run of a program
    h.rank,                        -- global rank of the process
    step_number(h.name) AS step,   -- N; without numbers: 0 for the first step of the rank, 1, ...
    h.name AS step_name,           -- name of the annotation or launch
    'PyTorch' AS marked_by,        -- what marks the steps, as in step_marks
    h.event_id,                    -- event_id of the annotation or launch
    h.pid,                         -- its process
    h.tid,                         -- its thread
    h.start_ns,
    h.dur_ns,
    h.end_ns
FROM host_ops AS h
ANTI JOIN (SELECT DISTINCT m.job, m.rank FROM step_marks AS m) AS marked
    ON marked.job = h.job AND marked.rank = h.rank
-- The condition on the prefix is also part of step_number. Here, it lets DuckDB skip files and row
-- groups without such names.
WHERE prefix(h.name, 'ProfilerStep')
  AND step_number(h.name) IS NOT NULL
  AND h.cat <> 'python_function'
UNION ALL
SELECT
    m.job, m.rank, m.step, m.step_name, m.marked_by, m.event_id, m.pid, m.tid, m.start_ns,
    m.dur_ns, m.end_ns
FROM step_marks AS m;
