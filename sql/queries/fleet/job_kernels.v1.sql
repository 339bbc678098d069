-- The kernels of a job with their operators, shapes, GPU time and speed.
--
-- A row is one kernel, copy or memset, with the operator that launched it, the shapes of the
-- operator's arguments and the name of the GPU. A row adds up all ranks.
--
-- The operator is usually the innermost one around the launch. But if op_flops counts operations
-- (FLOPs) or bytes for an operator around the launch, the row has that operator. If no operator is
-- around the launch, for example in CUDA graphs, op_name is NULL.
--
-- One call of an operator may launch several kernels. The call's operations and bytes count once,
-- in the row of the longest of these kernels. With equal durations, they count in the row of the
-- kernel that is first in the trace. `costed_ns` is the time of all kernels of the call. So rows
-- can be added up, and achieved_tflops and achieved_gbps are the rates of the operator:
--
--     aten::mm     [=============)     1e6 operations
--     gemm          [=====)            dur_ns 60: flops 1e6, costed_ns 70
--     splitKreduce          [=)        dur_ns 10: flops NULL
--
--     achieved_tflops = flops / costed_ns / 1e3
--
-- The `top_k` rows of each job with the highest total_ns are listed. The job's other rows are added
-- up into one row per GPU name and kind. In these rows, is_rest is true. Their kernel, operator,
-- shapes, position and rates are NULL.
--
-- Times are sums over calls. Kernels that overlap each count in full. The time of a
-- collective's kernel includes its wait.
--
-- since: 0.1
-- grain: job, device_name, kind, name, op_name, input_dims, input_types, concrete_inputs, is_rest
-- needs: gpu_activities
-- returns:
--   job              VARCHAR  -      run of a program
--   device_name      VARCHAR  -      GPU, as named in the rank's trace
--   kind             VARCHAR  -      computation, communication or memory
--   name             VARCHAR  -      name of the kernel, copy or memset
--   op_name          VARCHAR  -      operator that launched it, as above
--   input_dims       VARCHAR  -      JSON: sizes of each argument of the operator
--   input_types      VARCHAR  -      JSON: type of each argument
--   concrete_inputs  VARCHAR  -      JSON list with one text per argument: the value of a number,
--                                    boolean or list, or "" for a tensor. NULL if not recorded, or
--                                    if flops are not known
--   is_rest          BOOLEAN  -      whether the row adds up the job's other rows of its GPU name
--                                    and kind
--   position         BIGINT   -      place in the job, 1 for the longest total; NULL if is_rest
--   count            BIGINT   count  calls of the kernel
--   total_ns         BIGINT   ns     sum of the calls' durations
--   min_ns           BIGINT   ns     shortest call
--   max_ns           BIGINT   ns     longest call
--   total_frac       DOUBLE   0-1    total_ns / sum of the durations of all activities of the job
--   flops            BIGINT   -      operations of the calls that count in this row; NULL: not
--                                    known, or no call counts here
--   bytes            BIGINT   bytes  least bytes that these calls have to move; NULL: not known
--   costed_ns        BIGINT   ns     GPU time of all kernels of these calls
--   achieved_tflops  DOUBLE   -      flops / costed_ns, in 1e12 operations per second
--   achieved_gbps    DOUBLE   GB/s   bytes / costed_ns
-- check: count > 0
-- check: total_ns BETWEEN count * min_ns AND count * max_ns
-- check: total_frac BETWEEN 0 AND 1
-- check: (position IS NULL) = is_rest
-- check: NOT is_rest OR (name IS NULL AND op_name IS NULL AND input_dims IS NULL)
-- check: op_name IS NOT NULL OR (input_dims IS NULL AND flops IS NULL) OR is_rest
-- check: flops >= 0
-- check: bytes >= 0
-- check: costed_ns >= 0 AND (costed_ns = 0 OR flops IS NOT NULL OR bytes IS NOT NULL)
-- check: achieved_tflops IS NULL OR (flops IS NOT NULL AND costed_ns > 0)
-- reads: costed_calls, costed_shapes, counted_operators, device_names, gpu_activities, host_calls
CREATE OR REPLACE MACRO job_kernels_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    top_k INTEGER := 1000,  -- rows to list for each job
    short_names BOOLEAN := true  -- kernel names without template arguments and parameters
) AS TABLE
WITH
called AS MATERIALIZED (
    FROM costed_calls(true, only_jobs, NULL, NULL)
),
shapes AS MATERIALIZED (
    FROM costed_shapes(called)
),
nests AS MATERIALIZED (
    FROM counted_operators(called, shapes, only_jobs, NULL)
),
launching AS (
    SELECT DISTINCT a.job, a.rank, a.op_id
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND a.op_id IS NOT NULL
),
counting AS (
    SELECT l.job, l.rank, l.op_id, coalesce(n.counted_id, l.op_id) AS owner_id, n.counted_id
    FROM launching AS l
    LEFT JOIN nests AS n ON n.job = l.job AND n.rank = l.rank AND n.event_id = l.op_id
),
-- The columns of the operator in the result.
owners AS MATERIALIZED (
    SELECT
        c.job,
        c.rank,
        c.op_id,
        c.counted_id,
        o.name AS op_name,
        o.input_dims,
        o.input_types,
        CASE WHEN s.flops IS NOT NULL THEN o.concrete_inputs END AS concrete_inputs,
        s.flops,
        s.bytes
    FROM counting AS c
    JOIN host_calls AS o ON o.job = c.job AND o.rank = c.rank AND o.event_id = c.owner_id
    LEFT JOIN nests AS call
        ON call.job = c.job AND call.rank = c.rank AND call.event_id = c.counted_id
    LEFT JOIN shapes AS s ON s.shape_number = call.shape_number
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND o.name IS NOT NULL
),
activities AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.event_id,
        a.kind,
        CASE WHEN short_names THEN a.short_name ELSE a.name END AS name,
        a.dur_ns,
        o.* EXCLUDE (job, rank, op_id)
    FROM gpu_activities AS a
    LEFT JOIN owners AS o ON o.job = a.job AND o.rank = a.rank AND o.op_id = a.op_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
-- For each call whose cost counts: its longest activity, and the time of all of its activities.
costed AS (
    SELECT
        job,
        rank,
        min({'less_ns': -dur_ns, 'event_id': event_id}).event_id AS event_id,
        sum(dur_ns) AS costed_ns
    FROM activities
    WHERE counted_id IS NOT NULL
    GROUP BY job, rank, counted_id
),
kernels AS (
    SELECT
        a.job,
        d.device_name,
        a.kind,
        a.name,
        a.op_name,
        a.input_dims,
        a.input_types,
        a.concrete_inputs,
        count(*) AS call_count,
        sum(a.dur_ns) AS total_ns,
        min(a.dur_ns) AS min_ns,
        max(a.dur_ns) AS max_ns,
        sum(a.flops::HUGEINT) FILTER (c.event_id IS NOT NULL) AS flops,
        sum(a.bytes::HUGEINT) FILTER (c.event_id IS NOT NULL) AS bytes,
        coalesce(sum(c.costed_ns), 0) AS costed_ns
    FROM activities AS a
    LEFT JOIN costed AS c ON c.job = a.job AND c.rank = a.rank AND c.event_id = a.event_id
    LEFT JOIN device_names(only_jobs, NULL) AS d ON d.job = a.job AND d.rank = a.rank
    GROUP BY ALL
),
placed AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY job
            ORDER BY total_ns DESC, device_name, kind, name, op_name, input_dims, input_types,
                concrete_inputs
        ) AS place,
        sum(total_ns) OVER (PARTITION BY job) AS job_ns
    FROM kernels
),
first_ones AS (
    SELECT * EXCLUDE (place), false AS is_rest, place AS position
    FROM placed
    WHERE place <= top_k
),
others AS (
    SELECT
        job,
        device_name,
        kind,
        true AS is_rest,
        sum(call_count) AS call_count,
        sum(total_ns) AS total_ns,
        min(min_ns) AS min_ns,
        max(max_ns) AS max_ns,
        sum(flops) AS flops,
        sum(bytes) AS bytes,
        sum(costed_ns) AS costed_ns,
        any_value(job_ns) AS job_ns
    FROM placed
    WHERE place > top_k
    GROUP BY job, device_name, kind
)
SELECT
    job,
    device_name,
    kind,
    name,
    op_name,
    input_dims,
    input_types,
    concrete_inputs,
    is_rest,
    position,
    call_count::BIGINT AS count,
    total_ns::BIGINT AS total_ns,
    min_ns,
    max_ns,
    total_ns / nullif(job_ns, 0) AS total_frac,
    TRY_CAST(flops AS BIGINT) AS flops,
    TRY_CAST(bytes AS BIGINT) AS bytes,
    costed_ns::BIGINT AS costed_ns,
    CASE WHEN NOT is_rest THEN flops / nullif(1e3 * costed_ns, 0) END AS achieved_tflops,
    CASE WHEN NOT is_rest THEN bytes / nullif(costed_ns, 0) END AS achieved_gbps
FROM (
    FROM first_ones
    UNION ALL BY NAME
    FROM others
)
ORDER BY job, is_rest, position, device_name, kind;
