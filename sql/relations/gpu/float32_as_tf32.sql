-- One row per name of GPU activities: in_tf32 says whether a kernel of this name computes float32
-- as tf32.
--
-- `only_jobs`, `only_ranks`: jobs and ranks whose activities are read (NULL: all).
--
-- Matching the patterns of tensor_core_use costs more than a join. So the macro matches each name
-- only once, and queries join activities to the macro's rows by name.
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

-- The number format in which the device computes operations of the format `dtype`. `in_tf32` is
-- true if the kernel computes float32 as tf32.
CREATE OR REPLACE MACRO format_on_device(dtype, in_tf32) AS
CASE WHEN dtype = 'float32' AND in_tf32 THEN 'tf32' ELSE dtype END;
