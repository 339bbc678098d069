-- A time that a user wrote, in UTC: for example 2026-11-23, or 2026-11-23 08:30:00+02:00.
--
-- Without an offset it is taken as UTC. NULL if it is not a time.
CREATE OR REPLACE MACRO told_instant(told) AS
CASE
    WHEN regexp_matches(told, ':.*[+-]\d')
    THEN make_timestamp(epoch_us(TRY_CAST(told AS TIMESTAMPTZ)))
    ELSE TRY_CAST(told AS TIMESTAMP)
END;
