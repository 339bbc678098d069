-- What somebody wrote as a time, in UTC: such as 2026-11-23, or 2026-11-23 08:30:00+02:00.
--
-- Without an offset it is UTC already; NULL where it is no time.
CREATE OR REPLACE MACRO told_instant(told) AS
CASE
    WHEN regexp_matches(told, ':.*[+-]\d')
    THEN make_timestamp(epoch_us(TRY_CAST(told AS TIMESTAMPTZ)))
    ELSE TRY_CAST(told AS TIMESTAMP)
END;
