-- One row per row of `busy`: how the device spent its time.
--
-- `busy`: rows of busy_times.
--
-- Returns job, rank, device, step, and the times and fractions that the queries temporal_breakdown
-- and step_breakdown return.
CREATE OR REPLACE MACRO time_breakdown(busy) AS TABLE
SELECT
    job,
    rank,
    device,
    step,
    span_ns,
    busy_ns,
    span_ns - busy_ns AS idle_ns,
    computation_ns AS compute_ns,
    busy_ns - computation_ns AS non_compute_ns,
    communication_ns,
    memory_ns,
    computation_or_communication_ns - computation_ns AS exposed_communication_ns,
    busy_ns - computation_or_communication_ns AS exposed_memory_ns,
    idle_ns / nullif(span_ns, 0) AS idle_frac,
    compute_ns / nullif(span_ns, 0) AS compute_frac,
    non_compute_ns / nullif(span_ns, 0) AS non_compute_frac
FROM query_table(busy);
