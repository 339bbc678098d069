-- The peak performance of each rank's device, from the view device_peaks.
--
-- `only_jobs` and `only_ranks`: jobs and ranks to look up (NULL: all).
--
-- speeds_of_ranks and memories_of_ranks have no row for a rank whose device is not in device_peaks.
--
-- reads: device_peaks, traces

-- One row per rank: the name of its device.

CREATE OR REPLACE MACRO device_names(only_jobs, only_ranks) AS TABLE
SELECT t.job, t.rank, min(t.device_name) AS device_name
FROM traces AS t
WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
  AND (only_ranks IS NULL OR list_contains(only_ranks, t.rank))
GROUP BY t.job, t.rank;

-- One row per rank and number format: the peak in 1e12 operations per second.
CREATE OR REPLACE MACRO speeds_of_ranks(only_jobs, only_ranks) AS TABLE
SELECT d.job, d.rank, p.dtype, max(p.dense_tflops) AS dense_tflops
FROM device_names(only_jobs, only_ranks) AS d
JOIN device_peaks AS p ON p.device_name = d.device_name
GROUP BY d.job, d.rank, p.dtype;

-- One row per rank: the peak bandwidth of the memory in GB/s.
CREATE OR REPLACE MACRO memories_of_ranks(only_jobs, only_ranks) AS TABLE
SELECT d.job, d.rank, max(p.memory_gbps) AS memory_gbps
FROM device_names(only_jobs, only_ranks) AS d
JOIN device_peaks AS p ON p.device_name = d.device_name
GROUP BY d.job, d.rank;
