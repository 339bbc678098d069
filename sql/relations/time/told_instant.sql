-- The time in UTC that a text gives: for example 2026-11-23, or 2026-11-23 08:30:00+02:00.
--
-- A text without an offset is in UTC. NULL if the text is not a time.
CREATE OR REPLACE MACRO told_instant(told) AS
CASE
    WHEN regexp_matches(told, ':.*[+-]\d')
    THEN make_timestamp(epoch_us(TRY_CAST(told AS TIMESTAMPTZ)))
    ELSE TRY_CAST(told AS TIMESTAMP)
END;
