-- Model FLOPs utilisation (MFU) of each step, as a share of the device's peak.
--
-- `mfu_frac` is the time that the model's matrix products, convolutions and attention would take at
-- the device's peak, divided by the step's time. Every operation counts at the peak of its own
-- data type. So the query needs no single peak for a mix of formats:
--
--     mfu_frac = (flops in bfloat16 / peak of bfloat16
--                 + flops in float32 / peak of float32 + ...) / time_ns
--
-- op_flops defines which operations an operator has. If operators with known operations are nested,
-- only the innermost counts (see `is_counted` there). The rules are from appendix B of the PaLM
-- paper:
--
--   * The number of operations follows from shapes.
--   * Elementwise operators and adding a bias count nothing.
--   * A multiplication with its addition counts as two operations.
--   * Time is all time, including waits.
--
-- PaLM takes the operations from the model's size. This query takes them from the calls. So padding
-- counts, and causal attention counts only the pairs that attend to each other.
--
-- Operations that activation checkpointing runs again count only in `hfu_frac` (hardware FLOPs
-- utilisation). The operations of a call were run again if both conditions hold:
--
--   * The call is in a backward pass.
--   * The call records a new autograd node, as calls in a forward pass do. The node can also be
--     recorded by an operator around the call whose number of operations is known.
--
-- The gradient of a gradient also meets these conditions, so it counts only in `hfu_frac`.
--
-- `coverage_frac` is the share of the computation kernels' time that is in calls whose operations
-- count. If coverage is low, `mfu_frac` and `hfu_frac` are far too low. The rest of the time is in:
--
--   * elementwise and other operators for which no operations are known
--   * operators without recorded shapes (the profiler's record_shapes)
--   * operations that torch.compile fused, or that run in a CUDA graph
--   * operators whose operations could only be estimated
--
-- Steps and devices:
--
--   * The operations of a call belong to the step and the device of the first activity that the
--     call launched. A call that launched no activity does not count.
--   * The time of a step is the duration of its annotation on the host.
--   * A rank without steps has one row per device. The step of this row is NULL. The time of
--     this row is the device's span.
--   * On a rank with steps, activities outside all steps are left out.
--
-- `mfu_frac` and `hfu_frac` are NULL if a peak is not known (see the view device_peaks), or if no
-- operation is known.
--
-- since: 0.1
-- grain: job, rank, device, step
-- needs: gpu_activities
-- returns:
--   job               VARCHAR  -    run of a program
--   rank              INTEGER  -    rank of the process
--   device            BIGINT   -    GPU, as the process numbers it
--   step              BIGINT   -    number of the step, as in profiler_steps; NULL: no steps
--   time_ns           BIGINT   ns   time of the step on the host; without steps, the device's span
--   computation_ns    BIGINT   ns   sum of the durations of computation kernels
--   modelled_ns       BIGINT   ns   part of computation_ns in calls whose operations count
--   coverage_frac     DOUBLE   0-1  modelled_ns / computation_ns
--   flops             BIGINT   -    operations, without operations that were run again
--   recomputed_flops  BIGINT   -    operations that were run again
--   achieved_tflops   DOUBLE   -    flops / time_ns, in 1e12 operations per second
--   mfu_frac          DOUBLE   0-1  time that flops take at the peak / time_ns
--   hfu_frac          DOUBLE   0-1  time that flops and recomputed_flops take at the peak / time_ns
-- check: modelled_ns BETWEEN 0 AND computation_ns
-- check: coverage_frac BETWEEN 0 AND 1
-- check: (coverage_frac IS NULL) = (computation_ns = 0)
-- check: flops >= 0
-- check: recomputed_flops >= 0
-- check: mfu_frac >= 0
-- check: hfu_frac >= mfu_frac
-- check: (mfu_frac IS NULL) = (hfu_frac IS NULL)
-- reads: computing_shapes, costed_calls, counted_operators, float32_as_tf32, format_on_device,
--   gpu_activities, speeds_of_ranks, steps
CREATE OR REPLACE MACRO step_mfu_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: all]
    peak_tflops DOUBLE := NULL  -- peak for all data types, in 1e12 operations per second
                                -- [default: the peak of each data type in device_peaks]
) AS TABLE
WITH
called AS MATERIALIZED (
    FROM costed_calls(false, only_jobs, only_ranks, only_steps)
),
shapes AS MATERIALIZED (
    FROM computing_shapes(called)
),
nests AS MATERIALIZED (
    FROM counted_operators(called, shapes, only_jobs, only_ranks)
),
marks AS (
    SELECT s.job, s.rank, s.step, max(s.end_ns) - min(s.start_ns) AS time_ns
    FROM steps AS s
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, s.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, s.rank))
    GROUP BY s.job, s.rank, s.step
),
ranks_with_steps AS (
    SELECT DISTINCT job, rank
    FROM marks
),
launched AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.device,
        a.step,
        a.op_id,
        coalesce(sum(a.dur_ns) FILTER (a.kind = 'computation'), 0) AS computation_ns,
        min(a.start_ns) AS start_ns,
        max(a.end_ns) AS end_ns,
        min({'start_ns': a.start_ns, 'event_id': a.event_id}) AS first_one,
        bool_or(k.in_tf32) AS in_tf32
    FROM gpu_activities AS a
    JOIN float32_as_tf32(only_jobs, only_ranks) AS k ON k.name IS NOT DISTINCT FROM a.name
    LEFT JOIN ranks_with_steps AS r ON r.job = a.job AND r.rank = a.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
      AND (a.step IS NOT NULL OR r.rank IS NULL)
    GROUP BY a.job, a.rank, a.device, a.step, a.op_id
),
periods AS (
    SELECT
        l.job,
        l.rank,
        l.device,
        l.step,
        sum(l.computation_ns) AS computation_ns,
        CASE
            WHEN l.step IS NULL THEN max(l.end_ns) - min(l.start_ns)
            ELSE any_value(marks.time_ns)
        END AS time_ns
    FROM launched AS l
    LEFT JOIN marks ON marks.job = l.job AND marks.rank = l.rank AND marks.step = l.step
    GROUP BY l.job, l.rank, l.device, l.step
),
-- The calls that count. The next CTEs find what each call launched, on which device and in which
-- step. Each CTE has one join. In a single CTE, DuckDB 1.5 would begin with a join by job and rank
-- alone.
counted_calls AS MATERIALIZED (
    SELECT n.job, n.rank, n.event_id, n.shape_number, n.is_rerun
    FROM nests AS n
    JOIN shapes AS s ON s.shape_number = n.shape_number
    WHERE NOT s.is_estimated
),
launched_in_nests AS MATERIALIZED (
    SELECT
        l.job,
        l.rank,
        l.device,
        l.step,
        n.counted_id,
        l.computation_ns,
        l.first_one,
        l.in_tf32
    FROM launched AS l
    JOIN nests AS n ON n.job = l.job AND n.rank = l.rank AND n.event_id = l.op_id
    WHERE n.counted_id IS NOT NULL
),
of_calls AS (
    SELECT
        l.job,
        l.rank,
        l.device,
        l.step,
        c.event_id AS call_id,
        c.shape_number,
        c.is_rerun,
        l.computation_ns,
        l.first_one,
        l.in_tf32
    FROM launched_in_nests AS l
    JOIN counted_calls AS c
        ON c.job = l.job AND c.rank = l.rank AND c.event_id = l.counted_id
),
modelled AS (
    SELECT job, rank, device, step, sum(computation_ns) AS modelled_ns
    FROM of_calls
    GROUP BY job, rank, device, step
),
placed AS (
    SELECT
        job,
        rank,
        min({
            'start_ns': first_one.start_ns,
            'event_id': first_one.event_id,
            'device': device,
            'step': step
        }) AS first_one,
        shape_number,
        is_rerun,
        bool_or(in_tf32) AS in_tf32
    FROM of_calls
    GROUP BY job, rank, call_id, shape_number, is_rerun
),
by_format AS (
    SELECT
        p.job,
        p.rank,
        p.first_one.device AS device,
        p.first_one.step AS step,
        format_on_device(s.dtype, p.in_tf32) AS dtype,
        coalesce(sum(s.flops) FILTER (NOT p.is_rerun), 0) AS flops,
        coalesce(sum(s.flops) FILTER (p.is_rerun), 0) AS recomputed_flops
    FROM placed AS p
    JOIN shapes AS s ON s.shape_number = p.shape_number
    GROUP BY ALL
),
-- 1e12 operations per second are 1e3 per ns. The order of the sums is fixed, because a sum of
-- doubles depends on the order.
totals AS (
    SELECT
        f.job,
        f.rank,
        f.device,
        f.step,
        sum(f.flops) AS flops,
        sum(f.recomputed_flops) AS recomputed_flops,
        bool_and(coalesce(peak_tflops, speeds.dense_tflops) IS NOT NULL) AS is_known,
        sum(f.flops / (1e3 * coalesce(peak_tflops, speeds.dense_tflops)) ORDER BY f.dtype)
            AS peak_ns,
        sum(
            (f.flops + f.recomputed_flops) / (1e3 * coalesce(peak_tflops, speeds.dense_tflops))
            ORDER BY f.dtype
        ) AS peak_ns_of_all
    FROM by_format AS f
    LEFT JOIN speeds_of_ranks(only_jobs, only_ranks) AS speeds
        ON speeds.job = f.job AND speeds.rank = f.rank AND speeds.dtype = f.dtype
    WHERE f.flops > 0 OR f.recomputed_flops > 0
    GROUP BY f.job, f.rank, f.device, f.step
)
SELECT *
FROM (
    SELECT
        p.job,
        p.rank,
        p.device,
        p.step,
        p.time_ns,
        p.computation_ns::BIGINT AS computation_ns,
        coalesce(modelled.modelled_ns, 0)::BIGINT AS modelled_ns,
        coalesce(modelled.modelled_ns, 0) / nullif(p.computation_ns, 0) AS coverage_frac,
        TRY_CAST(coalesce(totals.flops, 0) AS BIGINT) AS flops,
        TRY_CAST(coalesce(totals.recomputed_flops, 0) AS BIGINT) AS recomputed_flops,
        coalesce(totals.flops, 0) / nullif(1e3 * p.time_ns, 0) AS achieved_tflops,
        CASE WHEN totals.is_known THEN totals.peak_ns / nullif(p.time_ns, 0) END AS mfu_frac,
        CASE WHEN totals.is_known THEN totals.peak_ns_of_all / nullif(p.time_ns, 0) END AS hfu_frac
    FROM periods AS p
    LEFT JOIN modelled
        ON modelled.job = p.job
        AND modelled.rank = p.rank
        AND modelled.device IS NOT DISTINCT FROM p.device
        AND modelled.step IS NOT DISTINCT FROM p.step
    LEFT JOIN totals
        ON totals.job = p.job
        AND totals.rank = p.rank
        AND totals.device IS NOT DISTINCT FROM p.device
        AND totals.step IS NOT DISTINCT FROM p.step
    UNION ALL BY NAME
    -- This adds no row. It raises an error if the peak is not above 0, with or without data.
    SELECT NULL AS job
    WHERE coalesce(peak_tflops <= 0, false)
      AND error(concat('step_mfu: peak_tflops is above 0, not ', peak_tflops)) IS NULL
)
ORDER BY job, rank, device, step;
