-- Operators on lists of tensors: concatenation, _foreach operators and fused optimizers.
--
-- The profiler records the sizes of the tensors of a list, but not their types. The name of the
-- kernel that a call launched contains the type.
--
-- reads: argument_sizes, argument_texts, gpu_activities

-- One row per operator: the places of its lists, counted from 1.
--
--     reads      lists that are read. NULL: every list
--     writes     lists of which each tensor is written, or has a new tensor of the same size
--     steps_at   list of counters of steps, which are float
--     is_norm    whether the result is one element per tensor of the first list
--
-- shared: session
CREATE OR REPLACE MACRO list_operators() AS TABLE
WITH
foreach_names AS (
    SELECT 'aten::_foreach_' || unnest([
        'abs', 'acos', 'add', 'addcdiv', 'addcmul', 'asin', 'atan', 'ceil', 'clamp_max',
        'clamp_min', 'cos', 'cosh', 'div', 'erf', 'erfc', 'exp', 'expm1', 'floor', 'frac', 'lerp',
        'lgamma', 'log', 'log10', 'log1p', 'log2', 'maximum', 'minimum', 'mul', 'neg', 'pow',
        'reciprocal', 'round', 'rsqrt', 'sigmoid', 'sign', 'sin', 'sinh', 'sqrt', 'sub', 'tan',
        'tanh', 'trunc'
    ]) AS name
)
SELECT name, family, reads, writes, steps_at, is_norm
FROM (
    VALUES
        ('aten::cat', 'concatenation', [1], [1], NULL, false),
        ('aten::_foreach_copy_', 'elementwise', [2], [1], NULL, false),
        ('aten::_foreach_zero_', 'elementwise', []::INTEGER[], [1], NULL, false),
        ('aten::_foreach_norm', 'reduction', [1], []::INTEGER[], NULL, true),
        ('aten::_foreach_max', 'reduction', [1], []::INTEGER[], NULL, true),
        ('aten::_amp_foreach_non_finite_check_and_unscale_',
         'elementwise', [1], [1], NULL, false),
        -- Parameters, gradients, moments (and the maximum of the second one), counters
        ('aten::_fused_adam_', 'optimizer', [1, 2, 3, 4, 5], [1, 3, 4, 5], 6, false),
        ('aten::_fused_adamw_', 'optimizer', [1, 2, 3, 4, 5], [1, 3, 4, 5], 6, false),
        ('aten::_fused_adagrad_', 'optimizer', [1, 2, 3], [1, 3], 4, false),
        ('aten::_fused_sgd_', 'optimizer', [1, 2, 3], [1, 3], NULL, false)
) AS operators (name, family, reads, writes, steps_at, is_norm)
UNION ALL
SELECT
    unnest([name, name || '_']) AS name,
    'elementwise' AS family,
    NULL AS reads,
    [1] AS writes,
    NULL AS steps_at,
    false AS is_norm
FROM foreach_names;

-- The element type in a kernel's name, in the names of `Input type`. For a copy, the type that is
-- written, a blank, and the type that is read. A kernel that only moves bytes names a size: then it
-- is some type of this size. NULL for other kernels.
--
--     multi_tensor_apply_kernel<TensorListMetadata<2>, CopyFunctor<float, c10::BFloat16, ...
--     CatArrayBatchedCopy_aligned16_contig<OpaqueType<2u>, unsigned int, 1, 128, 1>(...
CREATE OR REPLACE MACRO list_element_type(kernel_name) AS
list_transform(
    [regexp_extract(
        replace(replace(kernel_name, '(anonymous namespace)::', ''), 'at::native::', ''),
        '(CatArray\w*|\w+Functor)<([\w: ]+(?:<\w+>)?)(?:, ([a-z][\w:]+))?',
        ['kernel', 'written', 'read']
    )],
    lambda found: CASE
        WHEN found.written = '' THEN NULL
        WHEN prefix(found.written, 'OpaqueType<')
        THEN CASE regexp_extract(found.written, '\d+')
            WHEN '1' THEN 'unsigned char'
            WHEN '2' THEN 'short'
            WHEN '4' THEN 'int'
            WHEN '8' THEN 'long'
            WHEN '16' THEN 'c10::complex<double>'
        END
        WHEN suffix(found.kernel, 'CopyFunctor') THEN found.written || ' ' || found.read
        ELSE found.written
    END
)[1];

-- One row per call of such an operator that launched kernels with one element type: job, rank,
-- event_id, and as `context` this list_element_type.
--
-- `traced`: job, rank, event_id and name of rows of host_ops.
-- `of_jobs`, `of_ranks`: jobs and ranks to read (NULL: all).
CREATE OR REPLACE MACRO list_contexts(traced, of_jobs, of_ranks) AS TABLE
WITH
launched AS MATERIALIZED (
    SELECT DISTINCT a.job, a.rank, a.op_id, a.name
    FROM gpu_activities AS a
    JOIN query_table(traced) AS t ON t.job = a.job AND t.rank = a.rank AND t.event_id = a.op_id
    JOIN list_operators() AS o ON o.name = t.name
    WHERE (of_jobs IS NULL OR list_contains(of_jobs, a.job))
      AND (of_ranks IS NULL OR list_contains(of_ranks, a.rank))
),
kernels AS (
    SELECT name, list_element_type(name) AS element_type
    FROM (SELECT DISTINCT name FROM launched)
)
SELECT l.job, l.rank, l.op_id AS event_id, min(k.element_type) AS context
FROM launched AS l
JOIN kernels AS k ON k.name = l.name
GROUP BY l.job, l.rank, l.op_id
HAVING count(DISTINCT k.element_type) = 1;

-- One row per shape of an operator on lists: the tensors that move. Operations are not counted.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (input_dims),
--   types and values (texts) of its arguments, and its context: the element type, or the type that
--   is written and the type that is read.
--
-- Bytes: each tensor that is read or written counts once. Without a context, only a concatenation
-- into a given result is known: it has the type of this result.
--
-- Sources: signatures of aten/src/ATen/native/native_functions.yaml
CREATE OR REPLACE MACRO tensor_lists(shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        o.family,
        o.writes,
        o.steps_at,
        o.is_norm,
        coalesce(
            o.reads,
            list_filter(range(1, len(s.types) + 1), lambda i: s.types[i] = 'TensorList')
        ) AS reads,
        list_transform(
            argument_texts(s.input_dims),
            lambda dims: argument_sizes(dims)
        ) AS lists,
        s.types,
        coalesce(s.context, CASE WHEN s.name = 'aten::cat' THEN nullif(s.types[3], '') END)
            AS element_type
    FROM query_table(shapes) AS s
    JOIN list_operators() AS o ON o.name = s.name
),
known AS (
    SELECT
        *,
        string_split(element_type, ' ')[1] AS written_type,
        string_split(element_type, ' ')[-1] AS read_type
    FROM arguments
    WHERE types[1] = 'TensorList' AND len(lists[1]) > 0
)
SELECT
    shape_number,
    family,
    false AS is_estimated,
    NULL::BIGINT[] AS factors,
    NULL::VARCHAR[] AS formats,
    flatten([
        flatten(list_transform(
            reads,
            lambda i: list_transform(lists[i], lambda dims: {'dims': dims, 'type': read_type})
        )),
        flatten(list_transform(
            writes,
            lambda i: list_transform(lists[i], lambda dims: {'dims': dims, 'type': written_type})
        )),
        list_transform(
            CASE WHEN steps_at IS NOT NULL THEN lists[steps_at] ELSE [] END,
            lambda dims: {'dims': dims, 'type': 'float'}
        ),
        CASE
            WHEN is_norm THEN [{'dims': [len(lists[1])], 'type': written_type}]
            ELSE []
        END
    ]) AS tensors
FROM known;
