-- get_aten_op_kernels_and_delay: one row per operator and sequence of kernels.
--
-- $rank: the rank.
SELECT
    operator AS aten_op_name,
    replace(sequence, ' | ', ' -> ') AS kernel_sequence,
    count AS occurrence_count,
    hta_us(mean_op_to_launch_ns) AS avg_aten_op_launch_delay,
    hta_us(mean_launch_to_kernel_ns) AS avg_runtime_delay
FROM op_launch_delay_v1(only_ranks := [$rank])
ORDER BY operator, kernel_sequence
