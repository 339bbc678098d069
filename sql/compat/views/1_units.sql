-- Units and rounding of HTA.
--
-- Variables:
--   * hta_exact: whether numbers stay exact. If not, times are whole µs, and percentages and ratios
--     have as many digits as in HTA.

-- Nanoseconds in µs.
CREATE OR REPLACE MACRO hta_us(ns) AS ns / 1000;

-- A time stamp as HTA reads it from JSON: µs, the nearest DOUBLE.
CREATE OR REPLACE MACRO hta_stamp(ns) AS ns // 1000 + (ns % 1000) / 1000;

-- The start of an event: the whole µs at or after it.
CREATE OR REPLACE MACRO hta_start(start_ns, base_ns) AS
CASE
    WHEN getvariable('hta_exact') THEN start_ns
    ELSE base_ns + ceil(hta_stamp(start_ns - base_ns))::BIGINT * 1000
END;

-- The end of an event: the whole µs at or before it, but not before its rounded start.
CREATE OR REPLACE MACRO hta_end(start_ns, end_ns, base_ns) AS
CASE
    WHEN getvariable('hta_exact') OR end_ns IS NULL THEN end_ns
    ELSE greatest(
        hta_start(start_ns, base_ns),
        base_ns
        + floor(hta_stamp(start_ns - base_ns) + (end_ns - start_ns) / 1000)::BIGINT * 1000
    )
END;

-- A percentage or a ratio.
CREATE OR REPLACE MACRO hta_rounded(value, digits) AS
CASE WHEN getvariable('hta_exact') THEN value ELSE round_even(value, digits) END;
