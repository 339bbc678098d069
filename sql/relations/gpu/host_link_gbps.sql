-- The bandwidth that copies between pinned memory of the host and a device usually reach, in GB/s
-- and one direction. NULL for an unknown device.
--
-- `device_name`: as in traces. Sources: the PCIe generation in the vendor's data sheet; pinned
-- copies reach about 80 % of the link's figure.
CREATE OR REPLACE MACRO host_link_gbps(device_name) AS
CASE
    -- PCIe 3.0 x16
    WHEN regexp_matches(device_name, 'V100|\bT4\b|P100') THEN 12.0
    -- PCIe 5.0 x16
    WHEN regexp_matches(device_name, 'H100|H200|B200|MI3\d\dX') THEN 50.0
    -- PCIe 4.0 x16
    WHEN regexp_matches(device_name, 'A100|\bA(10|30|40)\b|\bL40?S?\b|RTX [34]0|RTX A|MI2\d\d')
    THEN 24.0
END;
