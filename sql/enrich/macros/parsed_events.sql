-- The events of one piece of a trace: a file holding a JSON array cut from traceEvents.
--
-- read_json names every key that the profiler writes: a key it is not told of costs more than
-- reading it. Where a stamp does not fit a double, the caller asks for parsed_events_exactly.
-- `problem` says why an event cannot be used; such rows go to quarantine, never into events.
CREATE OR REPLACE MACRO json_events(piece) AS TABLE
SELECT *
FROM read_json(
    piece,
    format = 'array',
    columns = {
        ph: 'VARCHAR', cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR',
        ts: 'DOUBLE', dur: 'DOUBLE', id: 'VARCHAR', bp: 'VARCHAR', s: 'VARCHAR', args: 'JSON'
    }
);

-- The same with time stamps as text, for stamps that a double would round.
CREATE OR REPLACE MACRO json_events_exactly(piece) AS TABLE
SELECT *
FROM read_json(
    piece,
    format = 'array',
    columns = {
        ph: 'VARCHAR', cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR',
        ts: 'VARCHAR', dur: 'DOUBLE', id: 'VARCHAR', bp: 'VARCHAR', s: 'VARCHAR', args: 'JSON'
    }
);

-- Microseconds in a double to nanoseconds, exact below 2^43 us: there a double is within half a
-- nanosecond of the decimal. Whole microseconds apart, since `us * 1000` would round once more.
-- Stamps outside of 1969 to 2041 are none; within, sums of a few times fit a BIGINT.
CREATE OR REPLACE MACRO nanoseconds(us) AS
CASE
    WHEN us BETWEEN -1e13 AND 2.25e15
    THEN CAST(floor(us) AS BIGINT) * 1000 + CAST((us - floor(us)) * 1000 AS BIGINT)
END;

CREATE OR REPLACE MACRO nanoseconds_exactly(us) AS
CASE
    WHEN TRY_CAST(us AS DOUBLE) BETWEEN -1e13 AND 2.25e15
    THEN CAST(TRY_CAST(us AS DECIMAL(38, 6)) * 1000 AS BIGINT)
END;

-- A span's time must be known and believable: the profiler's own limit is seven days.
CREATE OR REPLACE MACRO event_problem(ph, ts_ns, dur_us, duration_ns) AS
CASE
    WHEN ph IS NULL THEN 'not an event: no "ph"'
    WHEN ph = 'M' THEN NULL
    WHEN ts_ns IS NULL THEN 'missing or unusable "ts"'
    WHEN ph <> 'X' THEN NULL
    WHEN dur_us IS NULL THEN 'missing "dur"'
    WHEN dur_us < 0 THEN 'negative "dur"'
    WHEN duration_ns IS NULL OR duration_ns > 604800000000000 THEN '"dur" over 7 days'
END;

-- Columns of `events`, with times still relative to the trace's base.
CREATE OR REPLACE MACRO events_of(relation, first_id) AS TABLE
WITH
timed AS (
    SELECT
        *,
        TRY_CAST(dur * 1000 AS BIGINT) AS duration_ns,
        json_transform(
            args,
            '{"correlation": "BIGINT", "External id": "BIGINT",
              "stream": "BIGINT", "device": "BIGINT"}'
        ) AS ids
    FROM query_table(relation)
)
SELECT
    first_id + row_number() OVER () - 1 AS event_id,
    ph,
    cat,
    name,
    pid,
    tid,
    CASE WHEN ph <> 'M' THEN ts_ns END AS start_ns,
    CASE WHEN ph = 'X' THEN duration_ns END AS dur_ns,
    id,
    bp,
    s,
    ids.correlation AS correlation,
    ids."External id" AS external_id,
    ids.stream AS stream,
    ids.device AS device,
    args,
    event_problem(ph, ts_ns, dur, duration_ns) AS problem
FROM timed;

CREATE OR REPLACE MACRO parsed_events(piece, first_id) AS TABLE
WITH
in_nanoseconds AS (
    SELECT *, nanoseconds(ts) AS ts_ns
    FROM json_events(piece)
)
SELECT *
FROM events_of(in_nanoseconds, first_id);

CREATE OR REPLACE MACRO parsed_events_exactly(piece, first_id) AS TABLE
WITH
in_nanoseconds AS (
    SELECT *, nanoseconds_exactly(ts) AS ts_ns
    FROM json_events_exactly(piece)
)
SELECT *
FROM events_of(in_nanoseconds, first_id);
