-- Rounds a percentile of whole nanoseconds to whole nanoseconds. A half is rounded up.
--
-- An interpolated percentile is a whole number of hundredths, apart from a floating-point error.
-- The macro first rounds the percentile to hundredths, so that a half is exactly a half on every
-- machine.
CREATE OR REPLACE MACRO whole_ns(percentile) AS
round(round(percentile, 2))::BIGINT;
