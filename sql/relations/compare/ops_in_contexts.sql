-- One row per operator call in `ops`, with the call's context.
--
-- The context consists of three names: the operator, its caller, and the caller's caller. `ops` are
-- rows of compared_ops. `samples` has the columns sample and side. A sample is one step on one side
-- (base or test), with all ranks of the side. Returns the columns of `ops` without name and
-- input_dims, and
--
--     in_hash      name_hash of the caller; 0: no caller
--     around_hash  name_hash of the caller's caller; 0: no caller, or the caller has none
--     context      hash of around_hash, in_hash and name_hash
--     whole        hash of around_hash and in_hash; 0: no caller
--     dims_hash    hash of the call's shapes; 0 in all rows if no call of a side has recorded
--                  shapes
--     has_dims     true if the call has recorded shapes
CREATE OR REPLACE MACRO ops_in_contexts(ops, samples) AS TABLE
WITH
have_shapes AS (
    SELECT
        coalesce(bool_or(o.input_dims IS NOT NULL) FILTER (s.side = 'base'), false)
        AND coalesce(bool_or(o.input_dims IS NOT NULL) FILTER (s.side = 'test'), false) AS both_do
    FROM query_table(ops) AS o
    JOIN query_table(samples) AS s ON s.sample = o.sample
),
in_parents AS MATERIALIZED (
    SELECT
        o.sample,
        o.op_key,
        o.parent_key,
        o.is_inside,
        o.name_hash,
        CASE WHEN h.both_do THEN o.dims_hash ELSE 0::UBIGINT END AS dims_hash,
        o.input_dims IS NOT NULL AS has_dims,
        o.dur_ns,
        coalesce(p.name_hash, 0::UBIGINT) AS in_hash
    FROM query_table(ops) AS o
    CROSS JOIN have_shapes AS h
    LEFT JOIN query_table(ops) AS p ON p.op_key = o.parent_key
)
SELECT
    o.*,
    hash(coalesce(p.in_hash, 0::UBIGINT), o.in_hash, o.name_hash) AS context,
    CASE
        WHEN o.in_hash = 0 THEN 0::UBIGINT
        ELSE hash(coalesce(p.in_hash, 0::UBIGINT), o.in_hash)
    END AS whole,
    coalesce(p.in_hash, 0::UBIGINT) AS around_hash
FROM in_parents AS o
LEFT JOIN in_parents AS p ON p.op_key = o.parent_key;
