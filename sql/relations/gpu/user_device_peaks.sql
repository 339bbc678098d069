-- Peaks of devices from the file device_peaks.csv of the user. Without the file: no rows.
--
--     device_name, dtype, dense_tflops, memory_gbps   as in device_peaks
CREATE OR REPLACE VIEW user_device_peaks AS
SELECT
    NULL::VARCHAR AS device_name,
    NULL::VARCHAR AS dtype,
    NULL::DOUBLE AS dense_tflops,
    NULL::DOUBLE AS memory_gbps
WHERE false;
