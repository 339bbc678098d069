-- Peak performance of the devices of ranks, by device name. Unknown names have no row.
--
-- reads: device_peaks, traces

CREATE OR REPLACE MACRO device_names(only_jobs, only_ranks) AS TABLE
SELECT t.job, t.rank, min(t.device_name) AS device_name
FROM traces AS t
WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
  AND (only_ranks IS NULL OR list_contains(only_ranks, t.rank))
GROUP BY t.job, t.rank;

-- 1e12 operations per second in each number format.
CREATE OR REPLACE MACRO speeds_of_ranks(only_jobs, only_ranks) AS TABLE
SELECT d.job, d.rank, p.dtype, max(p.dense_tflops) AS dense_tflops
FROM device_names(only_jobs, only_ranks) AS d
JOIN device_peaks AS p ON p.device_name = d.device_name
GROUP BY d.job, d.rank, p.dtype;

-- Memory bandwidth in GB/s.
CREATE OR REPLACE MACRO memories_of_ranks(only_jobs, only_ranks) AS TABLE
SELECT d.job, d.rank, max(p.memory_gbps) AS memory_gbps
FROM device_names(only_jobs, only_ranks) AS d
JOIN device_peaks AS p ON p.device_name = d.device_name
GROUP BY d.job, d.rank;
