-- The program allocates and frees device memory in steady steps, and the GPU is idle meanwhile.
--
-- PyTorch's allocator keeps freed memory for later. Calls of cudaMalloc and cudaFree in every step
-- mean that it runs out of cached memory and retries. Gain: the idle time inside these calls.
--
-- needs: gpu_activities, launches
--
-- reads: humane_ns
CREATE OR REPLACE MACRO find_memory_thrash(idle_totals) AS TABLE
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    t.host_name AS subject,
    CASE
        WHEN t.is_once THEN 'Allocations of device memory leave the GPU idle, mostly in one gap'
        ELSE 'Allocations of device memory leave the GPU idle'
    END AS title,
    format(
        'The GPU is idle for {} {} while the host allocates or frees device memory: {} in {}{}. '
        || 'The most in one gap is {}.',
        humane_ns(t.idle_ns),
        t.per_unit,
        humane_ns(t.host_ns),
        t.host_name,
        coalesce(format(', {} in {}', humane_ns(t.second_ns), t.second_name), ''),
        humane_ns(t.longest_ns)
    ) AS evidence,
    t.numbers,
    t.idle_ns AS gain_ns,
    'exposed idle' AS gain_method,
    CASE WHEN t.is_once THEN 'low' ELSE 'high' END AS confidence,
    CASE
        WHEN t.is_once
        THEN 'Warm up before the profiled window: the first calls also initialise the device.'
        ELSE 'Use less memory per step, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.'
    END AS advice,
    'idle_gaps' AS see
FROM query_table(idle_totals) AS t
WHERE t.rule = 'memory_thrash';
