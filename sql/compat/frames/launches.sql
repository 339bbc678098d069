-- get_cuda_kernel_launch_stats: one row per launched activity.
--
-- $rank: the rank. $memory: whether copies and memsets count.
SELECT
    coalesce(correlation, -1) AS correlation,
    hta_us(cpu_ns) AS cpu_duration,
    hta_us(gpu_ns) AS gpu_duration,
    hta_us(launch_delay_ns) AS launch_delay
FROM launch_stats_v1(only_ranks := [$rank], include_memory := $memory)
ORDER BY launch_id, event_id
