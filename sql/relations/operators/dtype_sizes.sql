-- The number of bytes per element of each number format.
--
-- The names are PyTorch's names of ScalarType, as in the `dtype` of a collective. A packed format
-- holds several numbers in an element, such as two numbers of 4 bits in a byte. Its element_bytes
-- is the size of the packed element.
--
-- To add a format, replace this view by a view with the same columns.
--
-- shared: session
CREATE OR REPLACE VIEW dtype_sizes AS
SELECT
    dtype,
    element_bytes,
    'PyTorch, c10/core/ScalarType.h' AS reference
FROM (
    SELECT
        element_bytes,
        unnest(dtypes) AS dtype
    FROM (
        VALUES
            (1, [
                'Byte', 'Char', 'Bool', 'QInt8', 'QUInt8', 'QUInt4x2', 'QUInt2x4',
                'Bits1x8', 'Bits2x4', 'Bits4x2', 'Bits8',
                'Float8_e5m2', 'Float8_e4m3fn', 'Float8_e5m2fnuz', 'Float8_e4m3fnuz',
                'Float8_e8m0fnu', 'Float4_e2m1fn_x2'
            ]),
            (2, ['Short', 'Half', 'BFloat16', 'Bits16', 'UInt16']),
            (4, ['Int', 'Float', 'QInt32', 'ComplexHalf', 'UInt32']),
            (8, ['Long', 'Double', 'ComplexFloat', 'UInt64']),
            (16, ['ComplexDouble'])
    ) AS sizes (element_bytes, dtypes)
);
