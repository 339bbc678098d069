-- The names of GPU activities, and whether each computes float32 as tf32.
--
-- Patterns cost more than a join, so they are applied once per name.
--
-- reads: gpu_activities, takes_float32_as_tf32, tensor_core_use
CREATE OR REPLACE MACRO float32_as_tf32(only_jobs, only_ranks) AS TABLE
WITH
distinct_names AS MATERIALIZED (
    SELECT DISTINCT a.name
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
),
judged AS MATERIALIZED (
    SELECT name, takes_float32_as_tf32(tensor_core_use(name)) AS in_tf32
    FROM distinct_names
)
FROM judged;

-- The format in which a device computes the operations of a format.
CREATE OR REPLACE MACRO format_on_device(dtype, in_tf32) AS
CASE WHEN dtype = 'float32' AND in_tf32 THEN 'tf32' ELSE dtype END;
