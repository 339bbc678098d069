-- One row per event of one piece of a trace. A piece is a file with a JSON array, cut from
-- traceEvents.
--
-- `columns` lists every key that an event may have. DuckDB takes longer to skip a key that is not
-- listed than to read a key that is listed.
--
-- The macros events_of_numbers and events_of_text turn these rows into rows of `events`. In both
-- macros, the column `problem` says why an event cannot be used (NULL: it can be used). Rows with a
-- problem go to the quarantine, never into `events`.
CREATE OR REPLACE MACRO json_events(piece) AS TABLE
SELECT *
FROM read_json(
    piece,
    format = 'array',
    columns = {
        ph: 'VARCHAR', cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR',
        ts: 'DOUBLE', dur: 'DOUBLE', id: 'VARCHAR', bp: 'VARCHAR', s: 'VARCHAR', args: 'JSON',
        -- The other keys of Chrome's format. The profiler does not write them.
        id2: 'JSON', scope: 'JSON', bind_id: 'JSON', flow_in: 'JSON', flow_out: 'JSON',
        tts: 'JSON', tdur: 'JSON', tidelta: 'JSON', icount: 'JSON', cname: 'JSON', v: 'JSON',
        sf: 'JSON', esf: 'JSON', stack: 'JSON', estack: 'JSON'
    }
);

-- Returns json_events with times as text. It is for traces whose times a double would round, and
-- for times that are not JSON numbers.
CREATE OR REPLACE MACRO json_events_as_text(piece) AS TABLE
SELECT *
FROM read_json(
    piece,
    format = 'array',
    columns = {
        ph: 'VARCHAR', cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR',
        ts: 'VARCHAR', dur: 'VARCHAR', id: 'VARCHAR', bp: 'VARCHAR', s: 'VARCHAR', args: 'JSON',
        id2: 'JSON', scope: 'JSON', bind_id: 'JSON', flow_in: 'JSON', flow_out: 'JSON',
        tts: 'JSON', tdur: 'JSON', tidelta: 'JSON', icount: 'JSON', cname: 'JSON', v: 'JSON',
        sf: 'JSON', esf: 'JSON', stack: 'JSON', estack: 'JSON'
    }
);

-- Whether a time stamp is usable: from 1969 to 2041. Within these limits, a sum of a few times fits
-- a BIGINT.
CREATE OR REPLACE MACRO is_believable(us) AS us BETWEEN -1e13 AND 2.25e15;

-- Converts microseconds in a double to nanoseconds. This is exact below 2^43 us, where a double is
-- within half a nanosecond of the decimal. Whole microseconds and the fraction are converted
-- separately, because `us * 1000` would round once more.
CREATE OR REPLACE MACRO nanoseconds(us) AS
CASE
    WHEN is_believable(us)
    THEN CAST(floor(us) AS BIGINT) * 1000 + CAST((us - floor(us)) * 1000 AS BIGINT)
END;

-- Converts microseconds in a text to nanoseconds. This macro checks no limits, because time stamps
-- and durations have different limits.
CREATE OR REPLACE MACRO nanoseconds_of_text(us) AS
TRY_CAST(TRY_CAST(us AS DECIMAL(38, 12)) * 1000 AS BIGINT);

-- Removes the `=` with which ingest has quoted a number: `=123.5` becomes 123.5. If the fractions
-- of a trace are not padded (`unpadded`), `=123.5` becomes 123.005.
CREATE OR REPLACE MACRO unquoted_time(us, unpadded) AS
CASE
    WHEN us IS NULL OR NOT prefix(us, '=')
    THEN us
    WHEN unpadded
    THEN regexp_replace(
        regexp_replace(us[2:], '\.(\d)$', '.00\1'),
        '\.(\d\d)$', '.0\1'
    )
    ELSE us[2:]
END;

-- Returns `args` in which arguments named `ts` or `dur`, which ingest has quoted, are numbers
-- again.
CREATE OR REPLACE MACRO unquoted_arguments(args) AS
CASE
    WHEN contains(args, '"=')
    THEN regexp_replace(args, '("(?:ts|dur)"\s*:\s*)"=([0-9.eE+-]+)"', '\1\2', 'g')
    ELSE args
END;

-- The JSON type of a text, or 'REPEATING' for an object in which a key stands twice. NULL if the
-- text is not JSON.
CREATE OR REPLACE MACRO valid_json_type(text) AS
CASE
    WHEN NOT json_valid(text) THEN NULL
    WHEN json_type(text) <> 'OBJECT' THEN json_type(text)
    WHEN len(list_distinct(json_keys(text))) < len(json_keys(text)) THEN 'REPEATING'
    ELSE 'OBJECT'
END;

-- Why an event cannot be used; NULL if it can be used. All events except metadata need a time
-- stamp. A span also needs a duration from 0 to seven days. The profiler has the same limit of
-- seven days.
CREATE OR REPLACE MACRO event_problem(ph, ts_ns, dur_us, duration_ns) AS
CASE
    WHEN ph IS NULL THEN 'not an event: no "ph"'
    WHEN ph = 'M' THEN NULL
    WHEN ts_ns IS NULL THEN 'missing or unusable "ts"'
    WHEN ph <> 'X' THEN NULL
    WHEN dur_us IS NULL THEN 'missing or unusable "dur"'
    WHEN dur_us < 0 THEN 'negative "dur"'
    WHEN isnan(dur_us) THEN 'missing or unusable "dur"'
    WHEN duration_ns IS NULL OR duration_ns > 604800000000000 THEN '"dur" over 7 days'
END;

-- The columns of `events` except event_id, with times still relative to the trace's base.
-- `relation`: rows with the columns of json_events, and with ts_ns, dur_us and duration_ns.
--
-- `stamp_ns` is the time stamp, also for metadata, where start_ns is NULL.
CREATE OR REPLACE MACRO events_of(relation) AS TABLE
WITH
with_ids AS (
    SELECT
        *,
        json_transform(
            args,
            '{"correlation": "BIGINT", "External id": "BIGINT",
              "stream": "BIGINT", "device": "BIGINT",
              "Record function id": "BIGINT",
              "Sequence number": "BIGINT", "Fwd thread id": "BIGINT",
              "Input Dims": "VARCHAR", "Input type": "VARCHAR", "Concrete Inputs": "VARCHAR"}'
        ) AS ids,
        -- A coalesce of these columns would take twice as long.
        (
            id2 IS NOT NULL OR scope IS NOT NULL OR bind_id IS NOT NULL OR flow_in IS NOT NULL
            OR flow_out IS NOT NULL OR tts IS NOT NULL OR tdur IS NOT NULL OR tidelta IS NOT NULL
            OR icount IS NOT NULL OR cname IS NOT NULL OR v IS NOT NULL OR sf IS NOT NULL
            OR esf IS NOT NULL OR stack IS NOT NULL OR estack IS NOT NULL
        ) AS has_more
    FROM query_table(relation)
)
SELECT
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
    ids."Record function id" AS record_function_id,
    ids."Sequence number" AS sequence_number,
    ids."Fwd thread id" AS fwd_thread_id,
    ids."Input Dims" AS input_dims,
    ids."Input type" AS input_types,
    ids."Concrete Inputs" AS concrete_inputs,
    args,
    CASE
        WHEN has_more
        -- A merge leaves out keys that are NULL.
        THEN json_merge_patch('{}', json_object(
            'id2', id2, 'scope', scope, 'bind_id', bind_id, 'flow_in', flow_in,
            'flow_out', flow_out, 'tts', tts, 'tdur', tdur, 'tidelta', tidelta, 'icount', icount,
            'cname', cname, 'v', v, 'sf', sf, 'esf', esf, 'stack', stack, 'estack', estack
        ))
    END AS more,
    ts_ns AS stamp_ns,
    event_problem(ph, ts_ns, dur_us, duration_ns) AS problem
FROM with_ids;

-- The rows of events_of for a piece whose times are read as numbers.
CREATE OR REPLACE MACRO events_of_numbers(piece) AS TABLE
WITH
in_nanoseconds AS (
    SELECT
        *,
        nanoseconds(ts) AS ts_ns,
        dur AS dur_us,
        TRY_CAST(dur * 1000 AS BIGINT) AS duration_ns
    FROM json_events(piece)
)
SELECT *
FROM events_of(in_nanoseconds);

-- The rows of events_of for a piece whose times are read as text.
--
-- `unpadded`: whether the fractions of times are not padded, as in unquoted_time.
CREATE OR REPLACE MACRO events_of_text(piece, unpadded) AS TABLE
WITH
unquoted AS (
    SELECT
        * REPLACE (
            unquoted_time(ts, unpadded) AS ts,
            unquoted_time(dur, unpadded) AS dur,
            unquoted_arguments(args) AS args
        )
    FROM json_events_as_text(piece)
),
in_nanoseconds AS (
    SELECT
        *,
        CASE
            WHEN is_believable(TRY_CAST(ts AS DOUBLE))
            THEN nanoseconds_of_text(ts)
        END AS ts_ns,
        TRY_CAST(dur AS DOUBLE) AS dur_us,
        nanoseconds_of_text(dur) AS duration_ns
    FROM unquoted
)
SELECT * REPLACE (unquoted_arguments(more) AS more)
FROM events_of(in_nanoseconds);
