-- Sample standard deviation of whole numbers, from count, sum and sum of squares; 0 for one value.
--
-- It is exact up to the root, so that the order of rows does not matter, as it does in stddev_samp.
-- The squares need HUGEINT: `sum(x::HUGEINT * x)`.
CREATE OR REPLACE MACRO sample_stddev(value_count, total, square_total) AS
CASE
    WHEN value_count > 1
    THEN sqrt(
        (value_count * square_total - total * total)
        / (value_count::HUGEINT * (value_count - 1))
    )
    ELSE 0
END;
