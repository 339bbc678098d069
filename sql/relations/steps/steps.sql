-- One row per host annotation `ProfilerStep#N`, which marks a step of the training loop.
--
-- A step may have several rows, since several threads or processes may mark the same step. A
-- profiler may also mark a step twice.
--
-- reads: host_ops, step_number
CREATE OR REPLACE VIEW steps AS
SELECT
    job,                         -- one run of a program
    rank,                        -- global rank of the process
    step_number(name) AS step,   -- N
    event_id,                    -- event_id of the annotation
    pid,                         -- process of the annotation
    tid,                         -- thread of the annotation
    start_ns,
    dur_ns,
    end_ns
FROM host_ops
-- The condition on the prefix is also part of step_number. Here, it lets DuckDB skip files and row
-- groups without such names.
WHERE prefix(name, 'ProfilerStep') AND step_number(name) IS NOT NULL AND cat <> 'python_function';
