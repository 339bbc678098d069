-- Rounds a percentile of whole nanoseconds to whole nanoseconds, halves up.
--
-- The percentile is a whole number of hundredths. It is rounded to hundredths first, so that a half
-- is exactly a half everywhere.
CREATE OR REPLACE MACRO whole_ns(percentile) AS
round(round(percentile, 2))::BIGINT;
