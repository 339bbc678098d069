-- One row per rank: what its device and its link to the host can reach at most.
--
-- `only_jobs`: jobs to look at (NULL: all).
--
-- Returns job, rank and
--
--     memory_gbps    peak bandwidth of the memory, from device_peaks; NULL: device not known
--     dense_tflops   MAP from the number format to the peak in 1e12 operations per second
--     link_gbps      host_link_gbps
--
-- reads: device_names, device_peaks, host_link_gbps
CREATE OR REPLACE MACRO shared_device_rates(only_jobs) AS TABLE
SELECT
    d.job,
    d.rank,
    max(p.memory_gbps) AS memory_gbps,
    map_from_entries(list({'k': p.dtype, 'v': p.dense_tflops}) FILTER (p.dtype IS NOT NULL))
        AS dense_tflops,
    host_link_gbps(any_value(d.device_name)) AS link_gbps
FROM device_names(only_jobs, NULL) AS d
LEFT JOIN device_peaks AS p ON p.device_name = d.device_name
GROUP BY d.job, d.rank;
