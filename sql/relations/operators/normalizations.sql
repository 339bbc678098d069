-- Normalization of layers, batches and groups, forward and backward: PyTorch's operators and their
-- costs. moving_operators.sql has the operators of inference servers.

-- One row per operator: the places of its arguments, counted from 1.
--
--     argument_count  number of arguments
--     reads           arguments that are read in any case
--     running         running statistics: read if they are used, and also written in training
--     saved           statistics that the forward operator saved, if the operator is backward
--     training_at     argument that says whether the operator computes statistics. NULL: fixed_mode
--     fixed_mode      whether it computes statistics, if no argument says so
--     results         results have the sizes and types of these arguments
--     mask_at         argument that says which of the results are computed
--     statistics      number of statistics that the operator returns
--     extent          sizes of a statistic: rows (the input's sizes without those at shape_at),
--                     channels (the input's second size) or groups (the numbers of samples and
--                     groups, at shape_at and three arguments later)
--
-- shared: session
CREATE OR REPLACE MACRO normalization_operators() AS TABLE
SELECT
    'aten::' || unnest(names) AS name, is_backward, argument_count, input_at, reads, running, saved,
    training_at, fixed_mode, results, mask_at, statistics, extent, shape_at
FROM (
    VALUES
        (['native_layer_norm'], false, 5, 1,
         [1, 3, 4], [], [], NULL, true, [1], NULL, 2, 'rows', 2),
        (['native_layer_norm_backward'], true, 8, 2,
         [1, 2, 6], [], [4, 5], NULL, true, [2, 6, 7], 8, 0, 'rows', 3),
        (['_fused_rms_norm'], false, 4, 1,
         [1, 3], [], [], NULL, true, [1], NULL, 1, 'rows', 2),
        (['_fused_rms_norm_backward'], true, 6, 2,
         [1, 2, 5], [], [4], NULL, true, [2, 5], 6, 0, 'rows', 3),
        (['native_group_norm'], false, 8, 1,
         [1, 2, 3], [], [], NULL, true, [1], NULL, 2, 'groups', 4),
        (['native_group_norm_backward'], true, 10, 2,
         [1, 2, 5], [], [3, 4], NULL, true, [2, 5, 5], 10, 0, 'groups', 6),
        (['native_batch_norm', 'cudnn_batch_norm', 'miopen_batch_norm',
          '_native_batch_norm_legit'], false, 8, 1,
         [1, 2, 3], [4, 5], [], 6, NULL, [1], NULL, 2, 'channels', NULL),
        (['_native_batch_norm_legit_no_training', '_batch_norm_no_update'], false, 7, 1,
         [1, 2, 3], [4, 5], [], NULL, false, [1], NULL, 0, 'channels', NULL),
        (['_batch_norm_with_update'], false, 7, 1,
         [1, 2, 3], [4, 5], [], NULL, true, [1], NULL, 2, 'channels', NULL),
        (['native_batch_norm_backward'], true, 10, 2,
         [1, 2, 3], [4, 5], [6, 7], 8, NULL, [2, 3, 3], 10, 0, 'channels', NULL),
        (['batch_norm_backward'], true, 11, 2,
         [1, 2, 3], [4, 5], [6, 7], 8, NULL, [2, 3, 3], 10, 0, 'channels', NULL),
        (['cudnn_batch_norm_backward'], true, 9, 1,
         [1, 2, 3], [], [6, 7], NULL, true, [1, 3, 3], NULL, 0, 'channels', NULL),
        (['miopen_batch_norm_backward'], true, 8, 1,
         [1, 2, 3], [], [6, 7], NULL, true, [1, 3, 3], NULL, 0, 'channels', NULL),
        -- Batches that are distributed over ranks
        (['batch_norm_stats'], false, 2, 1,
         [1], [], [], NULL, true, [], NULL, 2, 'channels', NULL),
        (['batch_norm_elemt'], false, 6, 1,
         [1, 2, 3, 4, 5], [], [], NULL, true, [1], NULL, 0, 'channels', NULL),
        (['batch_norm_backward_reduce'], true, 8, 2,
         [1, 2, 3, 4], [], [], NULL, true, [], NULL, 4, 'channels', NULL),
        (['batch_norm_backward_elemt'], true, 8, 2,
         [1, 2, 3, 4, 5, 6, 7], [], [], NULL, true, [2], NULL, 0, 'channels', NULL)
) AS operators (
    names, is_backward, argument_count, input_at, reads, running, saved, training_at, fixed_mode,
    results, mask_at, statistics, extent, shape_at
);

-- One row per shape of a normalization: the tensors that move. Operations are not counted.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Bytes, where a weight or a bias that is not given counts nothing:
--
--   * forward: input, weight, bias and output move once. The mean and the inverse deviation of each
--     row, channel or group are written. If statistics are computed, running statistics are read
--     and written. If not, running statistics are read, and none are written.
--   * backward: the output's gradient, the input, the weight, and the statistics of the forward
--     operator move once. So do the gradients that output_mask names. The bias's gradient has the
--     weight's size.
--
-- Statistics have the input's type. They are float if the input has 16 bits per number; for groups,
-- only if the weight is float.
-- Workspaces of cuDNN and MIOpen are left out.
--
-- Sources: signatures of aten/src/ATen/native/native_functions.yaml; toAccumulateType of
-- aten/src/ATen/AccumulateType.h
CREATE OR REPLACE MACRO normalizations(shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        s.dims,
        s.types,
        o.*,
        CASE
            WHEN o.training_at IS NULL THEN o.fixed_mode
            ELSE TRY_CAST(s.texts[o.training_at] AS BOOLEAN)
        END AS trains,
        TRY_CAST(s.texts[o.mask_at] AS BOOLEAN[]) AS mask,
        s.dims[o.input_at] AS input_dims,
        CASE
            WHEN o.extent = 'groups' AND s.types[2] = 'float' THEN 'float'
            WHEN o.extent <> 'groups' AND s.types[o.input_at] IN ('c10::Half', 'c10::BFloat16')
            THEN 'float'
            ELSE s.types[o.input_at]
        END AS statistic_type,
        s.texts[o.shape_at] AS shape_text,
        s.texts[o.shape_at + 3] AS group_text
    FROM query_table(shapes) AS s
    JOIN normalization_operators() AS o
        ON o.name = s.name
        AND o.argument_count = len(s.dims)
),
placed AS (
    SELECT
        *,
        CASE
            WHEN is_backward AND trains THEN list_concat(reads, saved)
            WHEN is_backward THEN list_concat(reads, running)
            WHEN trains THEN list_concat(reads, list_concat(running, running))
            ELSE list_concat(reads, running)
        END AS all_reads,
        list_filter(
            range(1, len(results) + 1),
            lambda i: mask_at IS NULL OR coalesce(mask[i], true)
        ) AS computed,
        CASE extent
            WHEN 'rows' THEN input_dims[:len(input_dims) - len(TRY_CAST(shape_text AS BIGINT[]))]
            WHEN 'channels' THEN input_dims[2:2]
            ELSE [TRY_CAST(shape_text AS BIGINT), TRY_CAST(group_text AS BIGINT)]
        END AS statistic_dims
    FROM arguments
    WHERE mask_at IS NULL OR len(mask) = len(results)
)
SELECT
    shape_number,
    CASE WHEN is_backward THEN 'normalization backward' ELSE 'normalization' END AS family,
    false AS is_estimated,
    NULL::BIGINT[] AS factors,
    NULL::VARCHAR[] AS formats,
    list_concat(
        list_transform(all_reads, lambda i: {'dims': dims[i], 'type': types[i]}),
        list_concat(
            list_transform(
                computed, lambda i: {'dims': dims[results[i]], 'type': types[results[i]]}
            ),
            list_transform(
                CASE WHEN trains THEN range(0, statistics) ELSE [] END,
                lambda i: {'dims': statistic_dims, 'type': statistic_type}
            )
        )
    ) AS tensors
FROM placed
WHERE trains IS NOT NULL;
