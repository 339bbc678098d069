-- Peak memory of each device: when, in which operator, and how memory grows per step.
--
-- The query reads the trace's instants `[memory]`, which the profiler writes with profile_memory.
-- memory_timeline shows all of them.
--
-- The peak of a device is the first instant with the most bytes allocated. host_stack names
-- everything that was open on the peak's thread at that time, outermost first: annotations, Python
-- functions, operators, and runtime and driver calls. op_stack has only the operators, and op is
-- the innermost operator.
--
--     reserved    ___________________________
--     allocated   ____..../\....____            peak at the tip
--     host        [ProfilerStep#3 ===========)
--                  [aten::linear ======)
--                    [aten::addmm ===)          op aten::addmm
--
-- Unallocated memory is memory that the allocator has reserved, but that no tensor uses: it is
-- unused or lost to fragmentation. The unallocated bytes at an instant are NULL if nothing is
-- reserved, as for the CPU, or if less is reserved than allocated.
--
-- Growth compares the bytes allocated at the end of the first and of the last selected step:
--
--     growth_per_step_bytes = (allocated at the end of the last step
--                              - allocated at the end of the first step)
--                             / (number of the last step
--                                - number of the first step)
--
-- The value at the end of a step is the value of the last instant before that end. Growth is about
-- 0 in a training loop and above 0 in a leak. Growth is NULL if fewer than two steps are selected,
-- or if the first of them ends before the first instant.
--
-- With `only_steps`, only instants in the selected steps count. op_stack and host_stack also
-- include operations that began in other steps.
--
-- since: 0.1
-- grain: job, rank, device, device_type
-- needs: memory_instants
-- returns:
--   job                        VARCHAR  -      run of a program
--   rank                       INTEGER  -      rank of the process
--   device                     BIGINT   -      GPU, as the process numbers it; -1 for the CPU
--   device_type                BIGINT   -      0 CPU, 1 CUDA, 6 HIP, 12 XPU, 19 MTIA, ...
--   peak_allocated_bytes       BIGINT   bytes  most bytes in use by tensors; NULL if the trace
--                                              records no total
--   at_ns                      BIGINT   ns     time of the peak
--   step                       BIGINT   -      step in which the peak lies; NULL outside steps
--   op                         VARCHAR  -      innermost operator open at the peak
--   op_stack                   VARCHAR  -      operators open at the peak, outermost first,
--                                              joined by ;
--   host_stack                 VARCHAR  -      everything open at the peak, outermost first,
--                                              joined by ;
--   event_id                   BIGINT   -      event_id of the instant of the peak
--   op_id                      BIGINT   -      event_id of the innermost operator
--   peak_reserved_bytes        BIGINT   bytes  most bytes held by the allocator at any time
--   unallocated_at_peak_bytes  BIGINT   bytes  reserved minus allocated bytes, at the peak
--   max_unallocated_bytes      BIGINT   bytes  largest value of reserved minus allocated bytes, at
--                                              any time
--   growth_per_step_bytes      BIGINT   bytes  growth of allocated memory per step, as above
-- check: (peak_allocated_bytes IS NULL) = (event_id IS NULL)
-- check: (event_id IS NULL) = (at_ns IS NULL)
-- check: unallocated_at_peak_bytes BETWEEN 0 AND max_unallocated_bytes
--   OR unallocated_at_peak_bytes IS NULL
-- check: (op_id IS NULL) = (op_stack IS NULL) AND (op_id IS NULL OR host_stack IS NOT NULL)
-- check: op_stack IS NULL OR op IS NULL OR suffix(op_stack, op)
-- reads: host_ops, is_operator, memory_changes, steps, steps_at
CREATE OR REPLACE MACRO memory_peak_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
marks AS MATERIALIZED (
    SELECT s.job, s.rank, s.event_id, s.step, s.start_ns, s.end_ns
    FROM steps AS s
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, s.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, s.rank))
),
picked AS MATERIALIZED (
    SELECT
        m.*,
        CASE
            WHEN m.reserved_bytes > 0 AND m.reserved_bytes >= m.allocated_bytes
            THEN TRY_CAST(m.reserved_bytes::HUGEINT - m.allocated_bytes AS BIGINT)
        END AS unallocated_bytes
    FROM memory_changes(marks, only_jobs, only_ranks, only_steps) AS m
),
devices AS (
    SELECT
        job,
        rank,
        device,
        device_type,
        max(allocated_bytes) AS peak_allocated_bytes,
        max(reserved_bytes) AS peak_reserved_bytes,
        max(unallocated_bytes) AS max_unallocated_bytes
    FROM picked
    GROUP BY job, rank, device, device_type
),
-- The first instant with the device's highest value.
peaks AS MATERIALIZED (
    SELECT p.*
    FROM picked AS p
    JOIN devices AS d
        ON d.job = p.job
        AND d.rank = p.rank
        AND d.device IS NOT DISTINCT FROM p.device
        AND d.device_type IS NOT DISTINCT FROM p.device_type
        AND d.peak_allocated_bytes = p.allocated_bytes
    QUALIFY row_number() OVER (
        PARTITION BY p.job, p.rank, p.device, p.device_type ORDER BY p.at_ns, p.event_id
    ) = 1
),
peak_steps AS (
    FROM steps_at(peaks, marks)
),
-- Everything on the threads of the peaks. The aggregates in `stacks` select what is open at the
-- peak. A join by time would compare each operation with each peak.
beside AS (
    SELECT
        peaks.job,
        peaks.rank,
        peaks.event_id,
        h.event_id AS host_id,
        h.name,
        h.depth,
        is_operator(h.cat) AS is_op,
        h.start_ns <= peaks.at_ns AND peaks.at_ns < coalesce(h.cut_ns, h.end_ns) AS is_open
    FROM host_ops AS h
    JOIN peaks
        ON peaks.job = h.job
        AND peaks.rank = h.rank
        AND peaks.pid = h.pid
        AND peaks.tid = h.tid
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
),
stacks AS (
    SELECT
        job,
        rank,
        event_id,
        string_agg(coalesce(name, ''), ';' ORDER BY depth, host_id) FILTER (is_open) AS host_stack,
        string_agg(coalesce(name, ''), ';' ORDER BY depth, host_id) FILTER (is_open AND is_op)
            AS op_stack,
        arg_max({'id': host_id, 'name': name}, {'depth': depth, 'id': host_id})
            FILTER (is_open AND is_op) AS op
    FROM beside
    GROUP BY job, rank, event_id
),
selected_steps AS (
    SELECT job, rank, step, max(end_ns) AS end_ns
    FROM marks
    WHERE only_steps IS NULL OR list_contains(only_steps, step)
    GROUP BY job, rank, step
),
ends AS (
    SELECT
        job,
        rank,
        max(step) - min(step) AS step_count,
        arg_min(end_ns, step) AS first_end_ns,
        arg_max(end_ns, step) AS last_end_ns
    FROM selected_steps
    GROUP BY job, rank
),
states AS (
    SELECT
        p.job,
        p.rank,
        p.device,
        p.device_type,
        ends.step_count,
        p.allocated_bytes,
        {'at_ns': p.at_ns, 'id': p.event_id} AS place,
        p.at_ns < ends.first_end_ns AS is_in_first,
        p.at_ns < ends.last_end_ns AS is_in_last
    FROM picked AS p
    JOIN ends ON ends.job = p.job AND ends.rank = p.rank
    WHERE ends.step_count > 0
),
growth AS (
    SELECT
        job,
        rank,
        device,
        device_type,
        TRY_CAST(round((
            (arg_max(allocated_bytes, place) FILTER (is_in_last))::HUGEINT
            - arg_max(allocated_bytes, place) FILTER (is_in_first)
        ) / max(step_count)) AS BIGINT) AS growth_per_step_bytes
    FROM states
    GROUP BY job, rank, device, device_type
)
SELECT
    d.job,
    d.rank,
    d.device,
    d.device_type,
    d.peak_allocated_bytes,
    peaks.at_ns,
    placed.step,
    stacks.op.name AS op,
    stacks.op_stack,
    stacks.host_stack,
    peaks.event_id,
    stacks.op.id AS op_id,
    d.peak_reserved_bytes,
    peaks.unallocated_bytes AS unallocated_at_peak_bytes,
    d.max_unallocated_bytes,
    growth.growth_per_step_bytes
FROM devices AS d
LEFT JOIN peaks
    ON peaks.job = d.job
    AND peaks.rank = d.rank
    AND peaks.device IS NOT DISTINCT FROM d.device
    AND peaks.device_type IS NOT DISTINCT FROM d.device_type
LEFT JOIN peak_steps AS placed
    ON placed.job = peaks.job AND placed.rank = peaks.rank AND placed.event_id = peaks.event_id
LEFT JOIN stacks
    ON stacks.job = peaks.job AND stacks.rank = peaks.rank AND stacks.event_id = peaks.event_id
LEFT JOIN growth
    ON growth.job = d.job
    AND growth.rank = d.rank
    AND growth.device IS NOT DISTINCT FROM d.device
    AND growth.device_type IS NOT DISTINCT FROM d.device_type
ORDER BY d.job, d.rank, d.device, d.device_type;
