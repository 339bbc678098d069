-- Macros that test whether two sets of measurements differ by more than their noise.
--
-- The test is Yuen's test (1974, Biometrika 61) with one variance for both sets. It leaves out a
-- fifth of the sorted values at each end, so that a single outlier decides nothing. In a set with
-- fewer than five values, no value is left out. If both sets have fewer than five values,
-- the test is Student's t-test.
--
-- The test assumes that both sets have the same noise. Three values per set are therefore enough to
-- separate a difference from noise.
--
-- A parameter that ends in `sorted` is a list in ascending order, or NULL.

-- The number of values to leave out at each end.
CREATE OR REPLACE MACRO trimmed_count(sorted) AS
len(sorted) // 5;

-- The mean of the values that are not left out.
CREATE OR REPLACE MACRO trimmed_mean(sorted) AS
list_avg(sorted[trimmed_count(sorted) + 1:len(sorted) - trimmed_count(sorted)]);

-- The sum of squared deviations from the mean. A value that is left out is first replaced by the
-- nearest value that is not left out.
--
-- `first` and `last` are computed once and passed in a list of one struct. If the inner lambda read
-- `sorted` itself, DuckDB would copy the list for each element.
CREATE OR REPLACE MACRO winsorized_squares(sorted) AS
CASE
    WHEN len(sorted) > 1
    THEN (len(sorted) - 1) * list_var_samp(list_transform(
        [{
            'first': sorted[trimmed_count(sorted) + 1],
            'last': sorted[len(sorted) - trimmed_count(sorted)]
        }],
        lambda kept: list_transform(
            sorted, lambda x: greatest(kept.first, least(kept.last, x))::DOUBLE
        )
    )[1])
    ELSE 0.0
END;

-- The number of values that are not left out.
CREATE OR REPLACE MACRO kept_count(sorted) AS
len(sorted) - 2 * trimmed_count(sorted);

-- The standard error of the difference of the two trimmed means. NULL if both sets have only one
-- value, since the noise is then not known.
CREATE OR REPLACE MACRO standard_error(base_sorted, test_sorted) AS
sqrt(
    (winsorized_squares(base_sorted) + winsorized_squares(test_sorted))
    / nullif(kept_count(base_sorted) + kept_count(test_sorted) - 2, 0)
    * (1 / kept_count(base_sorted) + 1 / kept_count(test_sorted))
);

-- The value of Student's t that chance exceeds, in either direction, once in 1,000 tests.
--
-- `freedom`: number of degrees of freedom.
--
-- The values are rounded up. Above 30 degrees of freedom, the value is an upper bound that is less
-- than 1 % too high.
CREATE OR REPLACE MACRO student_t(freedom) AS
CASE
    WHEN freedom < 1 THEN NULL
    WHEN freedom <= 30
    THEN ([
        636.62, 31.6, 12.925, 8.611, 6.869, 5.959, 5.408, 5.042, 4.781, 4.587,
        4.437, 4.318, 4.221, 4.141, 4.073, 4.015, 3.966, 3.922, 3.884, 3.85,
        3.82, 3.793, 3.768, 3.746, 3.726, 3.707, 3.69, 3.674, 3.66, 3.647
    ])[freedom]::DOUBLE
    ELSE 3.2906 + 10.7 / freedom
END;

-- Student's t for the two sets. A difference of their trimmed means is beyond noise if it exceeds
-- noise_t * standard_error.
CREATE OR REPLACE MACRO noise_t(base_sorted, test_sorted) AS
student_t(kept_count(base_sorted) + kept_count(test_sorted) - 2);

-- The interval that contains one more value of the set in at least 995 of 1,000 cases. The values
-- are times, so the interval does not go below 0. NULL if the set has only one value.
CREATE OR REPLACE MACRO expected_low(sorted) AS
CASE
    WHEN noise_t(sorted, [0]) * standard_error(sorted, [0]) > trimmed_mean(sorted) THEN 0
    ELSE trimmed_mean(sorted) - noise_t(sorted, [0]) * standard_error(sorted, [0])
END;

CREATE OR REPLACE MACRO expected_high(sorted) AS
trimmed_mean(sorted) + noise_t(sorted, [0]) * standard_error(sorted, [0]);

-- The value of Student's t that chance exceeds once in 100,000 tests, for queries that compare many
-- things at once. The result is at least 5.
CREATE OR REPLACE MACRO student_t_of_many(freedom) AS
CASE
    WHEN freedom < 1 THEN NULL
    WHEN freedom <= 42
    THEN ([
        63661.978, 316.226, 60.397, 27.772, 17.897, 13.556, 11.215, 9.783, 8.828, 8.151,
        7.648, 7.261, 6.955, 6.707, 6.502, 6.331, 6.185, 6.059, 5.95, 5.854,
        5.77, 5.694, 5.627, 5.566, 5.511, 5.461, 5.416, 5.374, 5.335, 5.3,
        5.267, 5.237, 5.208, 5.182, 5.157, 5.134, 5.112, 5.091, 5.072, 5.053,
        5.036, 5.02
    ])[freedom]::DOUBLE
    ELSE 5.0
END;

-- The median of the values' distances from their median.
CREATE OR REPLACE MACRO median_deviation(sorted) AS
list_median(list_transform(
    [list_median(sorted)],
    lambda middle: list_transform(sorted, lambda x: abs(x - middle))
)[1]);
