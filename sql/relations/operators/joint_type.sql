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

-- The joint type of operands: a list of {type, rank, is_large}, with type_rank of the type and
-- whether the operand has dimensions. Operands without dimensions decide only if their category is
-- higher. Of the operands that decide, the type of the highest rank holds all numbers. Two types of
-- this rank have the joint type float (Half, BFloat16), are one type by two names (long, long int),
-- or have none of the two types (signed and unsigned numbers of 8 bits): NULL.
--
-- Source: documentation of torch.result_type and of type promotion
CREATE OR REPLACE MACRO joint_type(operands) AS
list_transform(
    [{
        'large': list_max(list_transform(
            operands, lambda o: CASE WHEN o.is_large THEN o.rank ELSE -10 END
        )),
        'small': list_max(list_transform(
            operands, lambda o: CASE WHEN o.is_large THEN -10 ELSE o.rank END
        ))
    }],
    lambda highest: list_transform(
        [list_distinct(list_transform(
            list_filter(
                operands,
                lambda o: CASE
                    WHEN highest.small // 10 > highest.large // 10
                    THEN NOT o.is_large AND o.rank = highest.small
                    ELSE o.is_large AND o.rank = highest.large
                END
            ),
            lambda o: o.type
        ))],
        lambda widest: CASE
            WHEN len(widest) = 1 OR highest.large IN (14, 18)
            THEN widest[1]
            WHEN list_contains(widest, 'c10::Half') AND list_contains(widest, 'c10::BFloat16')
            THEN 'float'
        END
    )[1]
)[1];
