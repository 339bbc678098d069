-- Peak performance of devices: one row per device name and number format.
--
-- A figure is the vendor's dense peak of matrix products, without sparsity. With sparsity, NVIDIA's
-- data sheets give twice this figure. If tensor cores (on AMD: matrix cores) and ordinary cores
-- have different peaks, the figure is the higher peak. For float32 on NVIDIA, the figure is the
-- peak of the ordinary cores, since tensor cores compute float32 only as tf32.
--
-- A device is identified by its exact name, since several devices may share a part of a name.
--
--   * A slice of a GPU (MIG) does not have the name of the whole GPU. The view has no row for it.
--   * An MI250 or MI250X has two dies. Each die is a device, and the figures are for one die.
--   * A partition of an MI300X or MI325X (CPX) has the name of the whole GPU. So the partition
--     wrongly gets the peaks of the whole GPU.
--
-- The file device_peaks.csv in an archive or in ~/.config/hta_sql adds devices and changes figures.
--
-- reads: user_device_peaks

-- The devices that hta_sql knows.
CREATE OR REPLACE VIEW known_device_peaks AS
WITH
models (model, memory_gbps, reference) AS (
    VALUES
        ('V100 SXM', 900, 'NVIDIA V100 data sheet'),
        ('V100 PCIe', 900, 'NVIDIA V100 data sheet'),
        ('T4', 320, 'NVIDIA Tesla T4 product brief PB-09256-001'),
        ('A100 40GB', 1555, 'NVIDIA A100 data sheet'),
        ('A100 PCIe 80GB', 1935, 'NVIDIA A100 data sheet'),
        ('A100 SXM 80GB', 2039, 'NVIDIA A100 data sheet'),
        ('A10', 600, 'NVIDIA A10 data sheet'),
        ('A30', 933, 'NVIDIA A30 data sheet'),
        ('A40', 696, 'NVIDIA A40 data sheet'),
        ('L4', 300, 'NVIDIA L4 data sheet'),
        ('L40S', 864, 'NVIDIA L40S data sheet'),
        ('H100 SXM', 3352, 'NVIDIA H100 whitepaper'),
        ('H100 PCIe', 2039, 'NVIDIA H100 whitepaper'),
        ('H100 NVL', 3938, 'NVIDIA H100 NVL product brief'),
        ('H200', 4800, 'NVIDIA H200 data sheet'),
        ('H20', 4000, 'NVIDIA H20 product brief'),
        ('H800 SXM', 3352, 'NVIDIA H800 product brief'),
        ('H800 PCIe', 2039, 'NVIDIA H800 product brief'),
        ('A800 PCIe', 1935, 'NVIDIA A800 data sheet'),
        ('A800 SXM', 2039, 'NVIDIA A800 data sheet'),
        ('GH200 96GB', 4000, 'NVIDIA GH200 data sheet'),
        ('GH200 144GB', 4900, 'NVIDIA GH200 data sheet'),
        ('B200', 8000, 'NVIDIA DGX B200 data sheet'),
        ('B300', 8000, 'NVIDIA DGX B300 data sheet'),
        ('GB200', 8000, 'NVIDIA GB200 NVL72 data sheet'),
        ('GB300', 8000, 'NVIDIA GB300 NVL72 data sheet'),
        ('L20', 864, 'NVIDIA L20 product brief'),
        ('L40', 864, 'NVIDIA L40 data sheet'),
        ('RTX A6000', 768, 'NVIDIA RTX A6000 data sheet'),
        ('RTX 6000 Ada', 960, 'NVIDIA RTX 6000 Ada data sheet'),
        ('RTX 3090', 936, 'NVIDIA GA102 whitepaper'),
        ('RTX 4090', 1008, 'NVIDIA Ada whitepaper'),
        ('RTX 5090', 1792, 'NVIDIA RTX Blackwell whitepaper'),
        ('MI210', 1638, 'AMD Instinct MI210 data sheet'),
        ('MI250', 1638, 'AMD Instinct MI250 data sheet, half'),
        ('MI250X', 1638, 'AMD Instinct MI250X data sheet, half'),
        ('MI300A', 5300, 'AMD Instinct MI300A data sheet'),
        ('MI300X', 5300, 'AMD Instinct MI300X data sheet'),
        ('MI325X', 6000, 'AMD Instinct MI325X data sheet'),
        ('MI350X', 8000, 'AMD Instinct MI350X data sheet'),
        ('MI355X', 8000, 'AMD Instinct MI355X data sheet')
),
-- 1e12 operations per second. NULL if the device has no cores for the format, or if the source does
-- not give the figure.
speeds (model, float64, float32, tf32, float16, bfloat16, float8, float4, int8) AS (
    VALUES
        ('V100 SXM', 7.8, 15.7, NULL, 125, NULL, NULL, NULL, NULL),
        ('V100 PCIe', 7, 14, NULL, 112, NULL, NULL, NULL, NULL),
        ('T4', NULL, 8.1, NULL, 65, NULL, NULL, NULL, 130),
        ('A100 40GB', 19.5, 19.5, 156, 312, 312, NULL, NULL, 624),
        ('A100 PCIe 80GB', 19.5, 19.5, 156, 312, 312, NULL, NULL, 624),
        ('A100 SXM 80GB', 19.5, 19.5, 156, 312, 312, NULL, NULL, 624),
        ('A10', NULL, 31.2, 62.5, 125, 125, NULL, NULL, 250),
        ('A30', 10.3, 10.3, 82, 165, 165, NULL, NULL, 330),
        ('A40', NULL, 37.4, 74.8, 149.7, 149.7, NULL, NULL, 299.3),
        ('L4', NULL, 30.3, 60, 121, 121, 242.5, NULL, 242.5),
        ('L40S', NULL, 91.6, 183, 362.05, 362.05, 733, NULL, 733),
        ('H100 SXM', 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, NULL, 1978.9),
        ('H100 PCIe', 51.2, 51.2, 378, 756, 756, 1513, NULL, 1513),
        ('H100 NVL', 60, 60, 417.5, 835.5, 835.5, 1670.5, NULL, 1670.5),
        ('H200', 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, NULL, 1978.9),
        ('H20', 1, 44, 74, 148, 148, 296, NULL, 296),
        ('H800 SXM', 1, 66.9, 494.7, 989.4, 989.4, 1978.9, NULL, 1978.9),
        ('H800 PCIe', 0.8, 51.2, 378, 756, 756, 1513, NULL, 1513),
        ('A800 PCIe', 19.5, 19.5, 156, 312, 312, NULL, NULL, 624),
        ('A800 SXM', 19.5, 19.5, 156, 312, 312, NULL, NULL, 624),
        ('GH200 96GB', 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, NULL, 1978.9),
        ('GH200 144GB', 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, NULL, 1978.9),
        ('B200', 37, 75, 1125, 2250, 2250, 4500, 9000, 4500),
        ('B300', NULL, 75, 1125, 2250, 2250, 4500, 13500, NULL),
        ('GB200', 40, 80, 1250, 2500, 2500, 5000, 10000, 5000),
        ('GB300', NULL, 80, 1250, 2500, 2500, 5000, 15000, NULL),
        ('L20', NULL, 59.8, 59.8, 119.5, 119.5, 239, NULL, 239),
        ('L40', NULL, 90.5, 90.5, 181.05, 181.05, 362, NULL, 362),
        ('RTX A6000', NULL, 38.7, 77.4, 154.8, 154.8, NULL, NULL, 309.7),
        ('RTX 6000 Ada', NULL, 91.1, 182.1, 364.2, 364.2, 728.5, NULL, 728.5),
        ('RTX 3090', NULL, 35.6, 35.6, 71, 71, NULL, NULL, 284),
        ('RTX 4090', NULL, 82.6, 82.6, 165.2, 165.2, 330.3, NULL, 660.6),
        ('RTX 5090', NULL, 104.8, 104.8, 209.5, 209.5, 419, 1676, 838),
        ('MI210', 45.3, 45.3, NULL, 181, 181, NULL, NULL, 181),
        ('MI250', 45.3, 45.3, NULL, 181, 181, NULL, NULL, 181),
        ('MI250X', 47.9, 47.9, NULL, 191.5, 191.5, NULL, NULL, 191.5),
        ('MI300A', 122.6, 122.6, NULL, 980.6, 980.6, 1961.2, NULL, 1961.2),
        ('MI300X', 163.4, 163.4, NULL, 1307.4, 1307.4, 2614.9, NULL, 2614.9),
        ('MI325X', 163.4, 163.4, NULL, 1307.4, 1307.4, 2614.9, NULL, 2614.9),
        ('MI350X', 72.1, 144.2, NULL, 2306.9, 2306.9, 4613.7, 9227.5, 4613.7),
        ('MI355X', 78.6, 157.3, NULL, 2516.6, 2516.6, 5033.2, 10066.3, 5033.2)
),
-- The names of devices in traces. They come from the driver.
names (device_name, model) AS (
    VALUES
        ('Tesla V100-SXM2-16GB', 'V100 SXM'),
        ('Tesla V100-SXM2-32GB', 'V100 SXM'),
        ('Tesla V100-PCIE-16GB', 'V100 PCIe'),
        ('Tesla V100-PCIE-32GB', 'V100 PCIe'),
        ('Tesla T4', 'T4'),
        ('A100-SXM4-40GB', 'A100 40GB'),
        ('NVIDIA A100-SXM4-40GB', 'A100 40GB'),
        -- In NVIDIA's list of supported GPUs, this name and A100-SXM4-40GB have the PCI id 20B0.
        ('NVIDIA A100-PG509-200', 'A100 40GB'),
        ('A100-PCIE-40GB', 'A100 40GB'),
        ('NVIDIA A100-PCIE-40GB', 'A100 40GB'),
        ('A100-SXM4-80GB', 'A100 SXM 80GB'),
        ('NVIDIA A100-SXM4-80GB', 'A100 SXM 80GB'),
        ('NVIDIA A100 80GB PCIe', 'A100 PCIe 80GB'),
        ('NVIDIA A10', 'A10'),
        ('NVIDIA A30', 'A30'),
        ('NVIDIA A40', 'A40'),
        ('NVIDIA L4', 'L4'),
        ('NVIDIA L40S', 'L40S'),
        ('NVIDIA H100 80GB HBM3', 'H100 SXM'),
        ('NVIDIA H100 PCIe', 'H100 PCIe'),
        ('NVIDIA H100 NVL', 'H100 NVL'),
        ('NVIDIA H200', 'H200'),
        ('NVIDIA H20', 'H20'),
        ('NVIDIA H800', 'H800 SXM'),
        ('NVIDIA H800 PCIe', 'H800 PCIe'),
        ('NVIDIA A800-SXM4-80GB', 'A800 SXM'),
        ('NVIDIA A800 80GB PCIe', 'A800 PCIe'),
        ('NVIDIA GH200 480GB', 'GH200 96GB'),
        ('NVIDIA GH200 144G HBM3e', 'GH200 144GB'),
        ('NVIDIA B200', 'B200'),
        ('NVIDIA B300 SXM6 AC', 'B300'),
        ('NVIDIA GB200', 'GB200'),
        ('NVIDIA GB300', 'GB300'),
        ('NVIDIA L20', 'L20'),
        ('NVIDIA L40', 'L40'),
        ('NVIDIA RTX A6000', 'RTX A6000'),
        ('NVIDIA RTX 6000 Ada Generation', 'RTX 6000 Ada'),
        ('NVIDIA GeForce RTX 3090', 'RTX 3090'),
        ('NVIDIA GeForce RTX 4090', 'RTX 4090'),
        ('NVIDIA GeForce RTX 5090', 'RTX 5090'),
        ('AMD Instinct MI210', 'MI210'),
        ('AMD Instinct MI250', 'MI250'),
        ('AMD Instinct MI250X', 'MI250X'),
        ('AMD Instinct MI300X', 'MI300X'),
        ('AMD Instinct MI300X VF', 'MI300X'),
        ('AMD Instinct MI300A', 'MI300A'),
        ('AMD Instinct MI325X', 'MI325X'),
        ('AMD Instinct MI350X', 'MI350X'),
        ('AMD Instinct MI355X', 'MI355X')
),
peaks AS (
    UNPIVOT speeds
    ON float64, float32, tf32, float16, bfloat16, float8, float4, int8
    INTO NAME dtype VALUE dense_tflops
)
SELECT
    names.device_name,                              -- as in traces
    peaks.dtype,                                    -- number format: float16, tf32, ...
    peaks.dense_tflops::DOUBLE AS dense_tflops,     -- 1e12 operations per second
    models.memory_gbps::DOUBLE AS memory_gbps,      -- 1e9 bytes per second
    models.reference                                -- source of the figures
FROM names
JOIN models ON models.model = names.model
JOIN peaks ON peaks.model = names.model;

-- A row of the user counts in place of a known one.
--
-- shared: session
CREATE OR REPLACE VIEW device_peaks AS
SELECT u.device_name, u.dtype, u.dense_tflops, u.memory_gbps, 'device_peaks.csv' AS reference
FROM user_device_peaks AS u
UNION ALL
SELECT k.*
FROM known_device_peaks AS k
ANTI JOIN user_device_peaks AS u ON u.device_name = k.device_name AND u.dtype = k.dtype;
