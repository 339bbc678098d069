-- GPU time in measured steps with names, and the rule that it belongs to.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `gpu_time`: rows of shared_gpu_time.
-- `op_shapes`: rows of shared_op_shapes.
--
-- Returns the columns of gpu_time, without the hashes and what only serves to make these:
--
--     name, short_name  of the kernel or copy
--     op_name           innermost operator around the launch; NULL: none
--     copying_name      operator that only copies, if copying_hash is not NULL
--     layout            as in layout_change
--     is_chain_start    whether a chain of pointwise operators begins with these activities
--     removing_ns       how much shorter the step gets without these activities and their
--                       launches: gaining_ns, and for each activity up to `launch_ns` of the rest,
--                       since the host saves at least this time
--     computation_ns    busy_ns of all computation of the rank
--     joined_bytes      bytes that fusing with the neighbours on the stream saves
--     op_bytes          bytes that the operators move, of which joined_bytes are a part
--     claim             the one use of this time: copy (between host and device), optimizer,
--                       layout, full_precision, pointwise (in a chain), or roofline (the shape's
--                       cost is known). NULL: none of them
--
-- Activities of an operator after the same operator are no chain, since they can belong to
-- different tensors.
--
-- reads: copy_kind, gpu_activities, host_calls, is_float32_product, is_operator, layout_change,
--   limit_of, takes_float32_as_tf32, tensor_core_use
CREATE OR REPLACE MACRO shared_gpu_work(only_jobs, gpu_time, op_shapes) AS TABLE
WITH
kernel_names AS MATERIALIZED (
    SELECT
        name_hash,
        name,
        short_name,
        layout_change(name) AS layout,
        is_float32_product(name) AS is_float32,
        takes_float32_as_tf32(tensor_core_use(name)) AS in_tf32
    FROM (
        SELECT DISTINCT hash(a.name) AS name_hash, a.name, a.short_name
        FROM gpu_activities AS a
        WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
    )
),
op_names AS MATERIALIZED (
    SELECT DISTINCT hash(h.name) AS op_hash, h.name
    FROM host_calls AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND is_operator(h.cat)
),
named AS (
    SELECT
        w.*,
        k.* EXCLUDE (name_hash),
        o.name AS op_name,
        c.name AS copying_name,
        s.family NOT IN ('elementwise', 'reduction') AS is_product,
        s.dtype = 'float32' AND NOT bool_or(k.in_tf32) OVER of_shape AS is_full_precision,
        s.bytes,
        s.result_bytes,
        b.result_bytes AS before_bytes,
        coalesce(b.name <> s.name, false) AS is_after,
        coalesce(n.name <> s.name, false) AS is_before
    FROM query_table(gpu_time) AS w
    JOIN kernel_names AS k ON k.name_hash = w.name_hash
    LEFT JOIN op_names AS o ON o.op_hash = w.op_hash
    LEFT JOIN op_names AS c ON c.op_hash = w.copying_hash
    LEFT JOIN query_table(op_shapes) AS s ON s.shape_number = w.shape_number
    LEFT JOIN query_table(op_shapes) AS b ON b.shape_number = w.before_shape
    LEFT JOIN query_table(op_shapes) AS n ON n.shape_number = w.after_shape
    WINDOW of_shape AS (PARTITION BY w.job, w.rank, w.shape_number)
),
claimed AS (
    SELECT
        *,
        CASE
            WHEN kind = 'memory' AND copy_kind(name) IN ('Memcpy HtoD', 'Memcpy DtoH') THEN 'copy'
            WHEN kind = 'memory' THEN NULL
            WHEN is_optimizer THEN 'optimizer'
            WHEN layout <> 'copy' OR (layout = 'copy' AND copying_name IS NOT NULL) THEN 'layout'
            WHEN (is_product AND is_full_precision) OR (shape_number IS NULL AND is_float32)
            THEN 'full_precision'
            WHEN is_after OR is_before THEN 'pointwise'
            WHEN shape_number IS NOT NULL THEN 'roofline'
        END AS claim
    FROM named
)
SELECT
    job,
    rank,
    kind,
    claim,
    name,
    short_name,
    layout,
    op_name,
    copying_name,
    shape_number,
    phase,
    claim = 'pointwise' AND NOT is_after AS is_chain_start,
    kernel_count,
    call_count,
    busy_ns,
    gaining_ns,
    gaining_ns + least(
        busy_ns - gaining_ns, (kernel_count * limit_of('all', 'launch_ns'))::BIGINT
    ) AS removing_ns,
    sum(busy_ns) FILTER (kind = 'computation') OVER (PARTITION BY job, rank) AS computation_ns,
    between_ns,
    exposed_ns,
    moved_bytes,
    CASE
        WHEN claim = 'pointwise'
        THEN kernel_count * (
            CASE WHEN is_after THEN before_bytes ELSE 0 END
            + CASE WHEN is_before THEN result_bytes ELSE 0 END
        )
    END AS joined_bytes,
    kernel_count * bytes AS op_bytes,
    blocks_per_sm
FROM claimed;
