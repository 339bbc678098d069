-- GPU time in measured steps, summed up by kernel and operator. Communication is left out.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `steady`: rows of shared_steady.
-- `op_shapes`: rows of shared_op_shapes.
--
-- Returns job, rank and
--
--     kind           computation or memory
--     name_hash      hash of the name of the kernel or copy
--     op_hash        hash of the name of the innermost operator around the launch; NULL: none
--     copying_hash   the same for the operator around it, or around that, if these are copying
--                    operators (is_copying_operator). NULL: they are not
--     shape_number   shape of the innermost operator, as in op_shapes. If its cost is not known,
--                    the shape of the operator around it, if its operations are known
--     phase          forward, backward, or rerun: a part of the forward pass that is repeated
--     is_optimizer   whether the launch is in an annotation `Optimizer.step...`
--     before_shape   shape of the pointwise operator just before on the stream, if this is a
--                    pointwise operator on as many elements in the same step. after_shape: the same
--                    just after
--     kernel_count   activities
--     call_count     calls of the operator with this shape that begin with these activities
--     busy_ns        durations of the activities
--     gaining_ns     durations of those activities whose shortening shortens the step
--     between_ns     gaps of up to 30 µs on the stream, just before these activities, in which
--                    they were launched already
--     exposed_ns     time of copies during which the device does not compute
--     moved_bytes    bytes of copies
--     blocks_per_sm  mean over the time of the kernels
--
-- If a stream is idle soon after an activity because the host launches the next one late, then a
-- shorter activity only lengthens this idle time. So a shorter activity shortens the step only if
-- the next such idle time on its stream comes after a wait of the host for the device, or if there
-- is no more such idle time (see starved_starts):
--
--     stream   [ a ][ b ]     [ c ][   d   ]     [ e ]
--     launch              [=)                [=)
--     host                    [wait        )
--     gains     no    no        yes    yes        yes
--
-- Whether computation on another stream goes on meanwhile does not count.
--
-- reads: copies_synchronously, copy_kind, gpu_activities, host_calls, host_ops,
--   in_measured_steps, is_copying_operator, is_operator, possible_size, repeated_launches,
--   shape_hash, starved_starts
CREATE OR REPLACE MACRO shared_gpu_time(only_jobs, steady, op_shapes) AS TABLE
WITH
of_jobs AS (
    SELECT a.*
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND a.kind <> 'communication'
),
activities AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        hash(a.job, a.rank, a.device, a.stream) AS lane,
        a.event_id,
        a.kind,
        a.step,
        hash(a.name) AS name_hash,
        a.start_ns,
        a.dur_ns,
        a.end_ns,
        a.hidden_ns,
        a.launch_id,
        a.launch_pid,
        a.launch_tid,
        a.launch_start_ns,
        a.launch_end_ns,
        CASE
            WHEN a.kind = 'memory'
            THEN a.launch_end_ns >= a.end_ns
                AND (copy_kind(a.name) = 'Memcpy DtoH' OR copies_synchronously(a.launch_name))
        END AS is_waited_for,
        a.op_id,
        a.annotation_id,
        possible_size(a.bytes) AS bytes,
        a.blocks_per_sm
    FROM in_measured_steps(of_jobs, steady) AS a
),
known_ops AS MATERIALIZED (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        h.op_id,
        hash(h.name) AS op_hash,
        is_copying_operator(h.name) AS is_copying,
        shape_hash(h.name, h.input_dims, h.input_types, h.concrete_inputs) AS shape_hash,
        CASE
            WHEN NOT coalesce(h.is_backward, false) THEN 'forward'
            WHEN h.sequence_number >= 0 AND coalesce(h.fwd_thread_id, 0) = 0 THEN 'rerun'
            ELSE 'backward'
        END AS phase
    FROM host_calls AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND is_operator(h.cat)
),
copying_ops AS (
    SELECT job, rank, event_id, op_hash
    FROM known_ops
    WHERE is_copying
),
-- The operators that launch activities.
launching_ops AS (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.op_hash,
        o.phase,
        CASE WHEN outer_op.is_copying THEN coalesce(outermost.op_hash, outer_op.op_hash) END
            AS copying_hash,
        coalesce(s.shape_number, outer_s.shape_number) AS shape_number,
        CASE
            WHEN s.shape_number IS NULL AND outer_s.shape_number IS NOT NULL THEN o.op_id
            ELSE o.event_id
        END AS call_id
    FROM known_ops AS o
    SEMI JOIN activities AS a ON a.job = o.job AND a.rank = o.rank AND a.op_id = o.event_id
    LEFT JOIN known_ops AS outer_op
        ON outer_op.job = o.job AND outer_op.rank = o.rank AND outer_op.event_id = o.op_id
    LEFT JOIN copying_ops AS outermost
        ON outermost.job = outer_op.job
        AND outermost.rank = outer_op.rank
        AND outermost.event_id = outer_op.op_id
    LEFT JOIN query_table(op_shapes) AS s ON s.shape_hash = o.shape_hash
    LEFT JOIN query_table(op_shapes) AS outer_s
        ON outer_s.shape_hash = outer_op.shape_hash AND outer_s.flops IS NOT NULL
),
optimizers AS (
    SELECT h.job, h.rank, h.event_id
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND prefix(h.name, 'Optimizer.step')
      AND h.cat = 'user_annotation'
),
placed AS (
    SELECT
        a.job,
        a.rank,
        a.lane,
        a.event_id,
        a.kind,
        a.name_hash,
        a.start_ns,
        a.end_ns,
        a.dur_ns,
        a.dur_ns - a.hidden_ns AS exposed_ns,
        a.bytes,
        a.blocks_per_sm,
        o.op_hash,
        o.copying_hash,
        o.call_id,
        o.shape_number,
        CASE WHEN repeated.event_id IS NOT NULL THEN 'rerun' ELSE o.phase END AS phase,
        optimizers.event_id IS NOT NULL AS is_optimizer,
        CASE
            WHEN optimizers.event_id IS NULL AND s.element_count IS NOT NULL
            THEN hash(a.step, s.element_count)
        END AS size_hash,
        starved.is_after_wait
    FROM activities AS a
    LEFT JOIN launching_ops AS o ON o.job = a.job AND o.rank = a.rank AND o.event_id = a.op_id
    LEFT JOIN query_table(op_shapes) AS s ON s.shape_number = o.shape_number
    LEFT JOIN optimizers
        ON optimizers.job = a.job
        AND optimizers.rank = a.rank
        AND optimizers.event_id = a.annotation_id
    LEFT JOIN repeated_launches(activities, only_jobs) AS repeated
        ON repeated.job = a.job AND repeated.rank = a.rank AND repeated.event_id = a.event_id
    LEFT JOIN starved_starts(activities, only_jobs) AS starved
        ON starved.job = a.job AND starved.rank = a.rank AND starved.event_id = a.event_id
),
in_order AS (
    SELECT
        *,
        start_ns - lag(end_ns) OVER on_stream AS gap_ns,
        lag(call_id) OVER on_stream AS before_id,
        lag(shape_number) OVER on_stream AS before_shape,
        lag(size_hash) OVER on_stream AS before_size,
        lead(call_id) OVER on_stream AS after_id,
        lead(size_hash) OVER on_stream AS after_size,
        lead(shape_number) OVER on_stream AS after_shape,
        coalesce(first_value(is_after_wait IGNORE NULLS) OVER (
            PARTITION BY lane
            ORDER BY start_ns, event_id
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ), true) AS is_gaining
    FROM placed
    WINDOW on_stream AS (PARTITION BY lane ORDER BY start_ns, event_id)
)
SELECT
    job,
    rank,
    kind,
    name_hash,
    op_hash,
    copying_hash,
    shape_number,
    phase,
    is_optimizer,
    CASE WHEN before_size = size_hash AND before_id <> call_id THEN before_shape END
        AS before_shape,
    CASE WHEN after_size = size_hash AND after_id <> call_id THEN after_shape END
        AS after_shape,
    count(*) AS kernel_count,
    count_if(call_id IS DISTINCT FROM before_id) AS call_count,
    sum(dur_ns)::BIGINT AS busy_ns,
    coalesce(sum(dur_ns) FILTER (is_gaining), 0)::BIGINT AS gaining_ns,
    coalesce(sum(gap_ns) FILTER (
        is_after_wait IS NULL AND gap_ns BETWEEN 0 AND 30000
    ), 0)::BIGINT AS between_ns,
    sum(exposed_ns)::BIGINT AS exposed_ns,
    sum(bytes)::BIGINT AS moved_bytes,
    sum(blocks_per_sm * dur_ns) / nullif(sum(dur_ns), 0) AS blocks_per_sm
FROM in_order
GROUP BY ALL;
