-- get_frequent_cuda_kernel_sequences: one row per operator and sequence of kernels.
--
-- $rank: the rank. $operator: a part of the operators' names. $min_length: activities per operator.
SELECT
    concat_ws('|', operator, nullif(replace(sequence, ' | ', '|'), '')) AS pattern,
    count,
    hta_us(gpu_ns) AS "GPU kernel duration (us)",
    hta_us(host_ns) AS "CPU op duration (us)"
FROM kernel_sequences_v1($operator, only_ranks := [$rank], min_length := $min_length)
ORDER BY count DESC, pattern
