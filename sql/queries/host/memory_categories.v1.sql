-- Memory of each category of tensors, after every change in a memory timeline.
--
-- The query reads raw memory timelines. torch.profiler's export_memory_timeline writes one if the
-- file name ends in raw.json.gz. (The query memory_timeline reads the trace itself, and shows the
-- allocator's totals.)
--
-- Successive changes of the file that have the same time make one row. The bytes of a row are the
-- sum of all changes up to then, including the changes of the row. The peak is the row with the
-- largest total_bytes.
--
--     at_ns   change          position   input   temporary   total
--     100     +8 input
--     100     +4 temporary    0          8       4           12
--     250     -4 temporary    1          8       0           8
--
-- Memory that was allocated before profiling has no time in the file. This memory makes one row, at
-- the first time in the timeline. If a category is newer than this query, its bytes count as
-- unknown.
--
-- The categories are PyTorch's. The category autograd is called AUTOGRAD_DETAIL in PyTorch.
--
-- since: 0.1
-- grain: job, rank, position
-- needs: memory_timeline
-- returns:
--   job                    VARCHAR  -      run of a program
--   rank                   INTEGER  -      rank of the process
--   position               BIGINT   -      number of the row in the file's order, from 0
--   at_ns                  BIGINT   ns     time of the changes; NULL if the timeline has no times
--   parameter_bytes        BIGINT   bytes  parameters of the model
--   optimizer_state_bytes  BIGINT   bytes  state of the optimizer
--   input_bytes            BIGINT   bytes  inputs
--   temporary_bytes        BIGINT   bytes  tensors that live within one operator
--   activation_bytes       BIGINT   bytes  results of the forward pass
--   gradient_bytes         BIGINT   bytes  gradients
--   autograd_bytes         BIGINT   bytes  results of the backward pass that are not gradients
--   unknown_bytes          BIGINT   bytes  everything else
--   total_bytes            BIGINT   bytes  sum of all categories
-- check: position >= 0
-- check: total_bytes = parameter_bytes::HUGEINT + optimizer_state_bytes + input_bytes
--   + temporary_bytes + activation_bytes + gradient_bytes + autograd_bytes + unknown_bytes
-- reads: memory_events
CREATE OR REPLACE MACRO memory_categories_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL  -- ranks to list [default: all]
) AS TABLE
WITH
changes AS (
    SELECT
        m.job,
        m.rank,
        m.position,
        m.at_ns,
        m.bytes,
        coalesce(m.category, 'unknown') AS category,
        min(CASE WHEN m.at_ns >= 0 THEN m.at_ns END) OVER (PARTITION BY m.job, m.rank) AS first_ns,
        m.at_ns IS DISTINCT FROM lag(m.at_ns) OVER in_file
            OR row_number() OVER in_file = 1 AS is_new
    FROM memory_events AS m
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, m.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, m.rank))
    WINDOW in_file AS (PARTITION BY m.job, m.rank ORDER BY m.position)
),
numbered AS (
    SELECT
        *,
        sum(CASE WHEN is_new THEN 1 ELSE 0 END)
            OVER (PARTITION BY job, rank ORDER BY position) - 1 AS row_number
    FROM changes
),
by_row AS (
    SELECT
        job,
        rank,
        row_number,
        any_value(CASE WHEN at_ns < 0 THEN first_ns ELSE at_ns END) AS at_ns,
        sum(CASE WHEN category = 'parameter' THEN bytes ELSE 0 END) AS parameter,
        sum(CASE WHEN category = 'optimizer_state' THEN bytes ELSE 0 END) AS optimizer_state,
        sum(CASE WHEN category = 'input' THEN bytes ELSE 0 END) AS input,
        sum(CASE WHEN category = 'temporary' THEN bytes ELSE 0 END) AS temporary,
        sum(CASE WHEN category = 'activation' THEN bytes ELSE 0 END) AS activation,
        sum(CASE WHEN category = 'gradient' THEN bytes ELSE 0 END) AS gradient,
        sum(CASE WHEN category = 'autograd' THEN bytes ELSE 0 END) AS autograd,
        sum(CASE WHEN category = 'unknown' THEN bytes ELSE 0 END) AS unknown,
        sum(bytes) AS total
    FROM numbered
    GROUP BY job, rank, row_number
)
SELECT
    job,
    rank,
    CAST(row_number AS BIGINT) AS position,
    at_ns,
    -- A sum that does not fit a BIGINT is NULL: no memory is that large.
    TRY_CAST(sum(parameter) OVER up_to_here AS BIGINT) AS parameter_bytes,
    TRY_CAST(sum(optimizer_state) OVER up_to_here AS BIGINT) AS optimizer_state_bytes,
    TRY_CAST(sum(input) OVER up_to_here AS BIGINT) AS input_bytes,
    TRY_CAST(sum(temporary) OVER up_to_here AS BIGINT) AS temporary_bytes,
    TRY_CAST(sum(activation) OVER up_to_here AS BIGINT) AS activation_bytes,
    TRY_CAST(sum(gradient) OVER up_to_here AS BIGINT) AS gradient_bytes,
    TRY_CAST(sum(autograd) OVER up_to_here AS BIGINT) AS autograd_bytes,
    TRY_CAST(sum(unknown) OVER up_to_here AS BIGINT) AS unknown_bytes,
    TRY_CAST(sum(total) OVER up_to_here AS BIGINT) AS total_bytes
FROM by_row
WINDOW up_to_here AS (PARTITION BY job, rank ORDER BY row_number)
ORDER BY job, rank, position;
