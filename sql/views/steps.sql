-- The steps of the training loop: one row for each host annotation `ProfilerStep#N`.
--
-- A step may have several: of threads, of processes, of a profiler that marks it twice.
CREATE OR REPLACE VIEW steps AS
WITH
marks AS (
    SELECT *
    FROM host_ops
    WHERE prefix(name, 'ProfilerStep') AND cat <> 'python_function'
)
SELECT
    job,
    rank,
    TRY_CAST(regexp_extract(name, '^ProfilerStep\s*#\s*(\d+)', 1) AS BIGINT) AS step,
    event_id,
    pid,
    tid,
    start_ns,
    dur_ns,
    end_ns
FROM marks
WHERE regexp_matches(name, '^ProfilerStep\s*#\s*\d{1,18}\D*$');
