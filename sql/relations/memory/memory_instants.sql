-- Allocations and releases of memory, from the profiler's instants `[memory]`.
--
-- Each has the totals of its device after it. Needs job, rank, event_id, pid, tid, start_ns and
-- args. Returns one row per instant. The CPU is device -1 here, whatever index the trace gives it.
-- A value that is not a number is NULL.
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
