-- The peak performance of each rank's device, from the view device_peaks.
--
-- `only_jobs` and `only_ranks`: jobs and ranks to look up (NULL: all).
--
-- speeds_of_ranks and memories_of_ranks have no row for a rank whose device is not in device_peaks.
--
-- reads: device_peaks, traces

-- One row per kind of device that traces do not name, as ROCm in some containers: its properties in
-- `deviceProperties`, and the name that it has elsewhere. Only devices whose properties no other
-- device has, or whose peaks are those of the other: an MI210 is like one die of an MI250.
CREATE OR REPLACE MACRO unnamed_devices() AS TABLE
SELECT warp_size, sm_count, compute, memory_gib, device_name
FROM (
    VALUES
        (64, 104, '9.0', 64, 'AMD Instinct MI250'),
        (64, 110, '9.0', 64, 'AMD Instinct MI250X'),
        (64, 228, '9.4', 128, 'AMD Instinct MI300A'),
        (64, 304, '9.4', 192, 'AMD Instinct MI300X'),
        (64, 304, '9.4', 256, 'AMD Instinct MI325X')
) AS devices (warp_size, sm_count, compute, memory_gib, device_name);

-- A number in the properties of the first device of a trace.
CREATE OR REPLACE MACRO device_number(metadata, property) AS
TRY_CAST(regexp_extract(metadata, '"' || property || '":\s*(\d+)', 1) AS BIGINT);

-- One row per rank: the name of its device. It is NULL if the trace does not name the device and
-- its properties are not in unnamed_devices.
CREATE OR REPLACE MACRO device_names(only_jobs, only_ranks) AS TABLE
SELECT
    t.job,
    t.rank,
    min(coalesce(d.device_name, nullif(t.device_name, ''))) AS device_name
FROM traces AS t
LEFT JOIN unnamed_devices() AS d
    ON coalesce(t.device_name, '') IN ('', 'AMD Radeon Graphics')
    AND d.warp_size = device_number(t.metadata, 'warpSize')
    AND d.sm_count = device_number(t.metadata, 'numSms')
    AND d.compute = concat(
        device_number(t.metadata, 'computeMajor'), '.', device_number(t.metadata, 'computeMinor')
    )
    AND d.memory_gib = round(device_number(t.metadata, 'totalGlobalMem') / 1024 ** 3)
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
