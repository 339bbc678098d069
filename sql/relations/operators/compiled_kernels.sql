-- Kernels that torch.compile made with Triton.

-- Whether a name is the name of such a kernel: triton_poi_fused_add_0, triton_red_fused_..., ...
CREATE OR REPLACE MACRO is_compiled_kernel(name) AS
prefix(name, 'triton_') AND regexp_matches(name, '^triton_(poi|red|per|for|split_scan)_');

-- One row per shape of such a kernel: the tensors that move. Operations are not counted.
--
-- `shapes`: rows of numbered_shapes. A shape is a kernel's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Bytes: every argument that is a tensor moves once. This is an estimate. It is too high where a
-- kernel reads only a few rows of a tensor. It is too low where a kernel updates a tensor in place,
-- which the arguments do not show. A kernel without tensors has no row.
CREATE OR REPLACE MACRO compiled_kernels(shapes) AS TABLE
SELECT
    s.shape_number,
    'compiled' AS family,
    true AS is_estimated,
    NULL::BIGINT[] AS factors,
    NULL::VARCHAR[] AS formats,
    list_transform(
        range(1, len(s.dims) + 1), lambda i: {'dims': s.dims[i], 'type': s.types[i]}
    ) AS tensors
FROM query_table(shapes) AS s
WHERE is_compiled_kernel(s.name)
  AND len(list_filter(s.types, lambda t: t NOT IN ('', 'Scalar', 'ScalarList', 'None'))) > 0;
