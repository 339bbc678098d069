-- Kernels of a name run so many times faster.
SELECT number, CAST(round(delay_ns / getvariable('what_if_factor')) AS BIGINT) AS delay_ns
FROM job_edges
WHERE edge = 'operator'
  AND bound_by = 'gpu_compute_bound'
  AND getvariable('what_if_kernel') IN (name, short_name)
