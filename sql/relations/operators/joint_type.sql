-- The type of the result of operands of several types, as PyTorch promotes types.
--
-- reads: type_bytes

-- The order of types: the category in tens (bool, whole numbers, floating point, complex numbers),
-- plus the bytes per element. NULL for other types.
CREATE OR REPLACE MACRO type_rank(type) AS
CASE
    WHEN type = 'bool' THEN 0
    WHEN prefix(type, 'c10::complex') THEN 30
    WHEN type IN ('float', 'double') OR prefix(type, 'c10::') THEN 20
    ELSE 10
END + type_bytes(type);

-- The type that holds numbers of all these types, which are of one category or of several. NULL if
-- there is no type, or if it is not one of them: signed with unsigned numbers of 8 bits.
CREATE OR REPLACE MACRO widest_type(some_types) AS
list_transform(
    [list_distinct(list_filter(
        some_types,
        lambda t: type_rank(t) = list_max(list_transform(some_types, lambda o: type_rank(o)))
    ))],
    lambda widest: CASE
        WHEN len(widest) = 1 OR type_rank(widest[1]) IN (14, 18)
        THEN widest[1]
        WHEN list_contains(widest, 'c10::Half') AND list_contains(widest, 'c10::BFloat16')
        THEN 'float'
    END
)[1];

-- The joint type of operands with dimensions (`large`) and without (`small`). Operands without
-- dimensions decide only if their category is higher.
--
-- Source: documentation of torch.result_type and of type promotion
CREATE OR REPLACE MACRO joint_type(large, small) AS
CASE
    WHEN coalesce(list_max(list_transform(small, lambda t: type_rank(t))) // 10, -1)
        > coalesce(list_max(list_transform(large, lambda t: type_rank(t))) // 10, -1)
    THEN widest_type(small)
    ELSE widest_type(large)
END;
