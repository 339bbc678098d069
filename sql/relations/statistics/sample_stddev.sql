-- The sample standard deviation of whole numbers, from their count, sum and sum of squares.
--
-- The result is 0 if there is only one value. Sums of whole numbers are exact, so the result does
-- not depend on the order of rows. DuckDB's stddev_samp depends on this order.
--
-- The sum of squares needs HUGEINT: `sum(x::HUGEINT * x)`.
CREATE OR REPLACE MACRO sample_stddev(value_count, total, square_total) AS
CASE
    WHEN value_count > 1
    THEN sqrt(
        (value_count * square_total - total * total)
        / (value_count::HUGEINT * (value_count - 1))
    )
    ELSE 0
END;
