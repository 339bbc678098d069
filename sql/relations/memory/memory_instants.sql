-- One row per row of `instants`: an allocation or release of memory on a device, and the total
-- memory of the device after this change.
--
-- `instants`: job, rank, event_id, pid, tid, start_ns and args of the instants `[memory]`.
--
-- The CPU always has the device number -1, even if the trace gives it another number. If a value in
-- `args` is not a number, its column is NULL.
CREATE OR REPLACE MACRO memory_instants(instants) AS TABLE
WITH
told AS (
    SELECT
        job,
        rank,
        event_id,
        pid,
        tid,
        start_ns AS at_ns,
        json_extract_string(
            CASE WHEN json_valid(args) THEN args END,
            ['Device Type', 'Device Id', 'Bytes', 'Total Allocated', 'Total Reserved']
        ) AS said
    FROM query_table(instants)
),
numbers AS (
    SELECT
        *,
        TRY_CAST(said[1] AS BIGINT) AS device_type,
        TRY_CAST(said[2] AS BIGINT) AS device_id
    FROM told
)
SELECT
    job,
    rank,
    CASE WHEN device_type = 0 THEN -1 ELSE device_id END AS device,
    device_type,
    event_id,
    pid,
    tid,
    at_ns,
    TRY_CAST(said[3] AS BIGINT) AS bytes,
    TRY_CAST(said[4] AS BIGINT) AS allocated_bytes,
    TRY_CAST(said[5] AS BIGINT) AS reserved_bytes
FROM numbers;
