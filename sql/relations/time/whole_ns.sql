-- A percentile of whole nanoseconds to whole ones, halves up.
--
-- In hundredths it is a whole number: rounded to them first, a half is a half everywhere.
CREATE OR REPLACE MACRO whole_ns(percentile) AS
round(round(percentile, 2))::BIGINT;
