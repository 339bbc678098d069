-- FLOPs and bytes of operators by shape, and how close they come to the roofline.
--
-- `flops` is known for matrix products, convolutions, attention and mixtures of experts. `flops`
-- counts the multiplications and additions of the operator's formula. A multiplication with its
-- addition counts as two operations. For the other families, only `bytes` is known.
--
-- `bytes` is the least that has to move: every operand is read once, and every result is written
-- once. The formulas and their sources are in sql/relations/operators, one file per family. They
-- cover operators of PyTorch, vLLM, SGLang, aiter, flash-attention and others.
--
-- The cost of attention over a cache depends on the lengths of the sequences, which no argument
-- shows. It is known if an annotation around the call gives their sums, as servers can write it.
--
-- The profiler does not record the types of tensors in a list. For operators on lists, such as
-- aten::cat and fused optimizers, the type is known if the name of their kernel contains it.
--
-- These operators and operations have no row:
--
--   * operators that these files do not list
--   * operators without recorded shapes (the profiler's record_shapes)
--   * operators whose shapes do not fit the formula
--   * operations of a graph replay, unless they are known from the capture of the graph
--
-- Operators that have rows can be nested. Only rows with `is_counted` can be added up: they contain
-- each computation and each activity once. These operators are counted:
--
--   * An operator with known `flops`: if no other operator with known `flops` is inside it.
--   * An operator without known `flops`: if no operator inside it has rows, and no operator around
--     it is counted.
--
-- For example:
--
--     aten::linear   [====================)   repeats the addmm: not counted
--     aten::t         [==)                    cost not known: no row
--     aten::addmm        [===============)    counted
--     launch               |
--     GPU                     [= gemm =)      in kernel_ns of both rows
--
-- Rates cover only the calls that launched a GPU activity. In the roofline model, a call takes at
-- least the longer of two times:
--
--     compute time = operations of the call / peak of the device
--     memory time  = bytes of the call / peak bandwidth of its memory
--
-- `bound` says which time is longer. `roofline_frac` is the longer time divided by the time of the
-- kernels. If `roofline_frac` is above 1, operands came from caches. If only bytes are known, the
-- memory time counts, and `bound` is memory.
--
-- Unless parameters set the peaks, they are from the view device_peaks, by the trace's device name
-- and the operands' type. float32 counts as tf32 if one of the row's kernels runs on NVIDIA's
-- tensor cores, which do not support float32.
--
-- If a needed peak is not known, `roofline_frac` is NULL. If `flops` of the row is known, `bound`
-- is then NULL, too. If only `bytes` is known, `bound` is memory even without a peak.
--
-- If nothing shows the weights of a mixture of experts, its `flops` are not known, and `bytes` are
-- those of its tokens, by far too few. Such a row has no rate, no `bound` and no `roofline_frac`.
--
-- since: 0.1
-- grain: job, rank, name, input_dims, input_types, concrete_inputs, is_counted, input_strides
-- needs: shapes
-- returns:
--   job                   VARCHAR  -      run of a program
--   rank                  INTEGER  -      rank of the process
--   name                  VARCHAR  -      name of the operator
--   input_dims            VARCHAR  -      JSON: sizes of each argument
--   input_types           VARCHAR  -      JSON: type of each argument
--   concrete_inputs       VARCHAR  -      JSON: values of arguments that are numbers; NULL for
--                                         elementwise operators
--   is_counted            BOOLEAN  -      whether the row counts in sums of rows
--   input_strides         VARCHAR  -      with by_strides: strides of each argument, as JSON;
--                                         otherwise NULL
--   family                VARCHAR  -      with flops: matrix product, convolution, convolution
--                                         backward, attention, attention backward, mixture of
--                                         experts. With bytes: elementwise, reduction,
--                                         normalization, normalization backward, activation,
--                                         rotary embedding, cache, routing, quantization, indexing,
--                                         concatenation, sorting, loss, pooling, resampling,
--                                         optimizer, linear attention, compiled
--   dtype                 VARCHAR  -      data type of the operations: float16, tf32, ...
--   is_estimated          BOOLEAN  -      whether flops and bytes are only an estimate: an upper
--                                         bound, or guesses where arguments do not show everything
--   count                 BIGINT   count  calls of the operator
--   flops                 BIGINT   -      operations of all calls; NULL: only bytes are known
--   bytes                 BIGINT   bytes  least bytes moved by all calls
--   launching_call_count  BIGINT   count  calls that launched GPU activities
--   kernel_count          BIGINT   count  GPU activities launched in the calls, at any depth
--   kernel_ns             BIGINT   ns     sum of these activities' durations
--   achieved_tflops       DOUBLE   -      operations of launching calls / kernel_ns, in 1e12
--                                         operations per second
--   achieved_gbps         DOUBLE   GB/s   bytes of launching calls / kernel_ns
--   arithmetic_intensity  DOUBLE   -      operations per byte: flops / bytes
--   bound                 VARCHAR  -      longer time in the roofline model: compute or memory
--   roofline_frac         DOUBLE   0-1    least time of launching calls in the roofline model /
--                                         kernel_ns
--   kernel_min_ns         BIGINT   ns     least kernel_ns of one launching call; NULL: none
--   kernel_p50_ns         BIGINT   ns     median
--   kernel_p95_ns         BIGINT   ns     95th percentile
--   kernel_max_ns         BIGINT   ns     most
--   kernel_stddev_ns      BIGINT   ns     standard deviation of the sample; 0 for one call
-- check: count >= launching_call_count AND kernel_count >= launching_call_count
-- check: launching_call_count >= 0 AND count > 0
-- check: flops >= 0
-- check: bytes >= 0
-- check: kernel_ns >= 0 AND (kernel_ns = 0 OR kernel_count > 0)
-- check: (achieved_tflops IS NULL) = (flops IS NULL OR kernel_ns = 0)
-- check: bound IN ('compute', 'memory')
-- check: kernel_min_ns <= kernel_p50_ns AND kernel_p95_ns <= kernel_max_ns
-- check: (kernel_min_ns IS NULL) = (launching_call_count = 0) AND kernel_max_ns <= kernel_ns
-- check: roofline_frac IS NULL OR (roofline_frac >= 0 AND bound IS NOT NULL)
-- reads: costed_calls, costed_shapes, counted_operators, float32_as_tf32, format_on_device,
--   gpu_activities, input_strides_of, memories_of_ranks, sample_stddev, speeds_of_ranks
CREATE OR REPLACE MACRO op_flops_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- calls that begin in these steps
                                  -- [default: the whole trace]
    peak_tflops DOUBLE := NULL,  -- peak for all data types, in 1e12 operations per second
                                 -- [default: the peak of each data type in device_peaks]
    peak_gbps DOUBLE := NULL,  -- peak bandwidth of the memory, in GB/s [default: device_peaks]
    by_strides BOOLEAN := false  -- also one row per strides of the arguments
) AS TABLE
WITH RECURSIVE
called AS MATERIALIZED (
    FROM costed_calls(true, only_jobs, only_ranks, only_steps)
),
shapes AS MATERIALIZED (
    FROM costed_shapes(called)
),
nests AS MATERIALIZED (
    FROM counted_operators(called, shapes, only_jobs, only_ranks)
),
launched AS (
    SELECT
        a.job,
        a.rank,
        a.op_id,
        count(*) AS kernel_count,
        sum(a.dur_ns) AS kernel_ns,
        bool_or(k.in_tf32) AS in_tf32
    FROM gpu_activities AS a
    JOIN float32_as_tf32(only_jobs, only_ranks) AS k ON k.name IS NOT DISTINCT FROM a.name
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND a.op_id IS NOT NULL
    GROUP BY a.job, a.rank, a.op_id
),
by_innermost_call AS (
    SELECT
        nests.job,
        nests.rank,
        nests.call_id,
        sum(launched.kernel_count) AS kernel_count,
        sum(launched.kernel_ns) AS kernel_ns,
        bool_or(launched.in_tf32) AS in_tf32
    FROM launched
    JOIN nests
        ON nests.job = launched.job
        AND nests.rank = launched.rank
        AND nests.event_id = launched.op_id
    GROUP BY nests.job, nests.rank, nests.call_id
),
around AS (
    SELECT job, rank, event_id, outer_id
    FROM nests
    WHERE shape_number IS NOT NULL AND outer_id IS NOT NULL
),
-- The activities of a call also count for the calls around it.
handed_up AS (
    SELECT job, rank, call_id, kernel_count, kernel_ns, in_tf32
    FROM by_innermost_call
    UNION ALL
    SELECT h.job, h.rank, a.outer_id AS call_id, h.kernel_count, h.kernel_ns, h.in_tf32
    FROM handed_up AS h
    JOIN around AS a ON a.job = h.job AND a.rank = h.rank AND a.event_id = h.call_id
),
by_call AS (
    SELECT
        job,
        rank,
        call_id,
        sum(kernel_count) AS kernel_count,
        sum(kernel_ns) AS kernel_ns,
        bool_or(in_tf32) AS in_tf32
    FROM handed_up
    GROUP BY job, rank, call_id
),
by_shape AS (
    SELECT
        c.job,
        c.rank,
        c.shape_number,
        c.counted_id IS NOT DISTINCT FROM c.event_id AS is_counted,
        strides.input_strides,
        count(*) AS count,
        count(by_call.call_id) AS launching_call_count,
        sum(by_call.kernel_count) AS kernel_count,
        sum(by_call.kernel_ns) AS kernel_ns,
        sum(by_call.kernel_ns::HUGEINT * by_call.kernel_ns) AS square_ns,
        list(by_call.kernel_ns::BIGINT) FILTER (by_call.call_id IS NOT NULL) AS call_times,
        bool_or(by_call.in_tf32) AS in_tf32
    FROM nests AS c
    LEFT JOIN by_call
        ON by_call.job = c.job AND by_call.rank = c.rank AND by_call.call_id = c.event_id
    LEFT JOIN input_strides_of(by_strides, only_jobs, only_ranks) AS strides
        ON strides.job = c.job AND strides.rank = c.rank AND strides.event_id = c.event_id
    WHERE c.shape_number IS NOT NULL
    GROUP BY ALL
),
rows_of_result AS (
    SELECT
        b.job,
        b.rank,
        s.name,
        s.input_dims,
        s.input_types,
        CASE WHEN s.family <> 'elementwise' THEN s.concrete_inputs END AS concrete_inputs,
        b.is_counted,
        b.input_strides,
        s.family,
        -- Calls with one shape differ in these if their contexts differ.
        bool_or(s.is_estimated) AS is_estimated,
        max(s.dtype) AS argument_dtype,
        bool_or(b.in_tf32) AS in_tf32,
        sum(b.count) AS count,
        CASE
            WHEN count(s.flops) = count(*) THEN sum(b.count::HUGEINT * s.flops)
        END AS flops,
        sum(b.count::HUGEINT * s.bytes) AS bytes,
        sum(b.launching_call_count) AS launching_call_count,
        CASE
            WHEN count(s.flops) = count(*) THEN sum(b.launching_call_count::HUGEINT * s.flops)
        END AS launched_flops,
        sum(b.launching_call_count::HUGEINT * s.bytes) AS launched_bytes,
        coalesce(sum(b.kernel_count), 0) AS kernel_count,
        coalesce(sum(b.kernel_ns), 0) AS kernel_ns,
        sum(b.square_ns) AS square_ns,
        flatten(list(b.call_times)) AS call_times
    FROM by_shape AS b
    JOIN shapes AS s ON s.shape_number = b.shape_number
    GROUP BY ALL
),
-- Times are in ns. 1e12 operations per second are 1e3 per ns, and 1 GB/s is 1 byte per ns.
limits AS (
    SELECT
        r.*,
        format_on_device(r.argument_dtype, r.in_tf32) AS dtype,
        r.flops / nullif(r.count, 0) / (1e3 * coalesce(peak_tflops, speeds.dense_tflops))
            AS compute_ns,
        r.bytes / nullif(r.count, 0) / coalesce(peak_gbps, memories.memory_gbps) AS memory_ns,
        r.family = 'mixture of experts' AND r.is_estimated AND r.flops IS NULL AS lacks_weights
    FROM rows_of_result AS r
    LEFT JOIN speeds_of_ranks(only_jobs, only_ranks) AS speeds
        ON speeds.job = r.job
        AND speeds.rank = r.rank
        AND speeds.dtype = format_on_device(r.argument_dtype, r.in_tf32)
    LEFT JOIN memories_of_ranks(only_jobs, only_ranks) AS memories
        ON memories.job = r.job AND memories.rank = r.rank
)
SELECT *
FROM (
    SELECT
        job,
        rank,
        name,
        input_dims,
        input_types,
        concrete_inputs,
        is_counted,
        input_strides,
        family,
        dtype,
        is_estimated,
        count::BIGINT AS count,
        TRY_CAST(flops AS BIGINT) AS flops,
        TRY_CAST(bytes AS BIGINT) AS bytes,
        launching_call_count::BIGINT AS launching_call_count,
        kernel_count::BIGINT AS kernel_count,
        kernel_ns::BIGINT AS kernel_ns,
        launched_flops / nullif(1e3 * kernel_ns, 0) AS achieved_tflops,
        CASE
            WHEN NOT lacks_weights THEN launched_bytes / nullif(kernel_ns, 0)
        END AS achieved_gbps,
        l.flops / nullif(l.bytes, 0) AS arithmetic_intensity,
        CASE
            WHEN lacks_weights THEN NULL
            WHEN l.flops IS NULL OR memory_ns >= compute_ns THEN 'memory'
            WHEN memory_ns < compute_ns THEN 'compute'
        END AS bound,
        CASE
            WHEN lacks_weights THEN NULL
            WHEN l.flops IS NULL THEN memory_ns
            WHEN memory_ns IS NOT NULL AND compute_ns IS NOT NULL
            THEN greatest(memory_ns, compute_ns)
        END * launching_call_count / nullif(kernel_ns, 0) AS roofline_frac,
        list_min(call_times) AS kernel_min_ns,
        round(list_aggregate(call_times, 'quantile_cont', 0.5))::BIGINT AS kernel_p50_ns,
        round(list_aggregate(call_times, 'quantile_cont', 0.95))::BIGINT AS kernel_p95_ns,
        list_max(call_times) AS kernel_max_ns,
        CASE
            WHEN launching_call_count > 0
            THEN round(sample_stddev(launching_call_count, kernel_ns, square_ns))::BIGINT
        END AS kernel_stddev_ns
    FROM limits AS l
    UNION ALL BY NAME
    -- This adds no row. It raises an error if a peak is not above 0, whether or not there is data.
    SELECT NULL AS job
    WHERE coalesce(peak_tflops <= 0, false)
      AND error(concat('op_flops: peak_tflops is above 0, not ', peak_tflops)) IS NULL
       OR coalesce(peak_gbps <= 0, false)
      AND error(concat('op_flops: peak_gbps is above 0, not ', peak_gbps)) IS NULL
)
ORDER BY
    job,
    rank,
    kernel_ns DESC,
    name,
    input_dims,
    input_types,
    concrete_inputs,
    is_counted,
    input_strides;
