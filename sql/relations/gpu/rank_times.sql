-- One row per rank: how long its devices were busy with each kind of activity.
--
-- `jobs`, `ranks` and `steps`: the activities to read, as in activities_of.
--
-- Returns job, rank, device, span_ns, busy_ns, compute_ns, communication_ns, memory_ns and both_ns.
-- `device` is the rank's device with the lowest number. The times are sums over the rank's rows of
-- device_times. both_ns is the time with computation or communication, or with both at once (the
-- union).
--
-- reads: device_times
CREATE OR REPLACE MACRO rank_times(jobs, ranks, steps) AS TABLE
SELECT
    job,
    rank,
    min(device) AS device,
    sum(span_ns)::BIGINT AS span_ns,
    sum(busy_ns)::BIGINT AS busy_ns,
    sum(computation_ns)::BIGINT AS compute_ns,
    sum(communication_ns)::BIGINT AS communication_ns,
    sum(memory_ns)::BIGINT AS memory_ns,
    sum(computation_or_communication_ns)::BIGINT AS both_ns
FROM device_times(jobs, ranks, steps)
GROUP BY job, rank;
