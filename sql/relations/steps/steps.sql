-- The steps of the training loop: one row per host annotation `ProfilerStep#N`.
--
-- A step may have several rows: of several threads, of several processes, or of a profiler that
-- marks it twice.
--
-- reads: host_ops, step_number
CREATE OR REPLACE VIEW steps AS
SELECT
    job,                         -- one run of a program
    rank,                        -- global rank of the process
    step_number(name) AS step,   -- N
    event_id,                    -- the annotation's
    pid,                         -- its process
    tid,                         -- its thread
    start_ns,
    dur_ns,
    end_ns
FROM host_ops
-- The prefix is repeated, so that files and row groups without such names are not read.
WHERE prefix(name, 'ProfilerStep') AND step_number(name) IS NOT NULL AND cat <> 'python_function';
