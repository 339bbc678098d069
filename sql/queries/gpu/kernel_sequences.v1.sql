-- Sequences of kernels that operators launch, with counts and times.
--
-- The query looks at operators whose name contains the text `operator`; case matters. An empty text
-- finds nothing. If an operator is inside another such operator on its thread, the query leaves out
-- the inner one.
--
-- An activity belongs to an operator if its launch lies in the operator, on the operator's thread,
-- at any depth and for any stream. Kernels, copies and memsets count, and so do all activities of a
-- launched CUDA graph. The sequence of an operator is the names of its activities, in the order of
-- their starts.
--
--     host    [aten::linear=======================)   [aten::linear=======)
--                [aten::linear===)                      [launch 3)
--                  [launch 1)      [launch 2)
--     device                 [2: fill=)  [1: gemm=====)       [3: gemm==)
--
--     Result with min_length 1:
--     aten::linear   fill | gemm   count 1   launches 1 and 2
--     aten::linear   gemm          count 1   launch 3
--
-- Details:
--   * A launch that ends after the operator does not lie in it.
--   * Activities that other threads launch, for example in a backward pass, belong to the operators
--     on those threads.
--   * Of activities with equal starts, the one with the lower event_id is first.
--   * An activity without a name counts with an empty name.
--   * If a name contains ' | ', different sequences can have the same text. They share one row, and
--     kernel_count is the largest of their counts.
--
-- `only_steps` selects the operators that begin in those steps. The query leaves out an inner
-- operator only if the outer operator is selected, too. All activities of a selected operator
-- count, even if they were launched in another step.
--
-- HTA's get_frequent_cuda_kernel_sequences differs:
--   * It also matches annotations, runtime calls and other events, not only operators.
--   * Of all matches in a rank, it keeps only those at the lowest stack depth. So one shallow
--     operator hides all deeper operators.
--   * Its sequences include synchronisations.
--   * It finds nothing on stream 0, where AMD's kernels run.
--   * It fails on most traces that record fractions of a us.
--
-- since: 0.1
-- grain: job, rank, operator, sequence
-- needs: launches, operators
-- returns:
--   job               VARCHAR  -      run of a program
--   rank              INTEGER  -      rank of the process
--   operator          VARCHAR  -      full name of the operators
--   sequence          VARCHAR  -      activity names in the order of start, joined by ' | '
--   count             BIGINT   count  operators with this sequence
--   kernel_count      BIGINT   count  activities of one operator with this sequence
--   gpu_ns            BIGINT   ns     sum of the durations of the activities of these operators
--   host_ns           BIGINT   ns     sum of the durations of these operators
--   example_event_id  BIGINT   -      lowest event_id of these operators
-- check: count > 0
-- check: kernel_count >= 0 AND gpu_ns >= 0 AND host_ns >= 0
-- check: kernel_count > 0 OR sequence = ''
-- reads: gpu_activities, last_operators_before, outermost_operators
CREATE OR REPLACE MACRO kernel_sequences_v1(
    operator VARCHAR,  -- text that operator names contain; case matters
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    min_length INTEGER := 3  -- least number of activities per operator; 0: all operators
) AS TABLE
WITH
-- A bare `operator` is the parameter here. The column is `op_name` until the last SELECT.
ops AS (
    FROM outermost_operators(operator, only_jobs, only_ranks, only_steps)
),
launched AS (
    SELECT
        a.job,
        a.rank,
        a.event_id,
        coalesce(a.name, '') AS name,
        a.start_ns,
        a.dur_ns,
        a.launch_id AS call_id,
        a.launch_pid AS call_pid,
        a.launch_tid AS call_tid,
        a.launch_start_ns AS call_start_ns,
        a.launch_end_ns AS call_end_ns
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND a.launch_id IS NOT NULL
),
pairs AS MATERIALIZED (
    FROM last_operators_before(ops, launched)
),
-- Names are long and few, so sequences are built and compared as lists of name numbers.
names AS (
    SELECT name, row_number() OVER (ORDER BY name) AS name_number
    FROM (SELECT DISTINCT name FROM pairs)
),
calls AS (
    SELECT
        pairs.job,
        pairs.rank,
        pairs.op_event_id,
        list(names.name_number ORDER BY pairs.start_ns, pairs.event_id)
            FILTER (pairs.is_inside) AS name_numbers,
        count(*) FILTER (pairs.is_inside) AS kernel_count,
        sum(pairs.dur_ns) FILTER (pairs.is_inside) AS gpu_ns
    FROM pairs
    JOIN names ON names.name = pairs.name
    GROUP BY pairs.job, pairs.rank, pairs.op_event_id
),
counted AS (
    SELECT
        ops.job,
        ops.rank,
        ops.op_name,
        calls.name_numbers,
        count(*) AS op_count,
        coalesce(any_value(calls.kernel_count), 0) AS kernel_count,
        coalesce(sum(calls.gpu_ns), 0) AS gpu_ns,
        sum(ops.end_ns - ops.start_ns) AS host_ns,
        min(ops.event_id) AS example_event_id
    FROM ops
    LEFT JOIN calls
        ON calls.job = ops.job
        AND calls.rank = ops.rank
        AND calls.op_event_id = ops.event_id
    WHERE coalesce(calls.kernel_count, 0) >= min_length
    GROUP BY ops.job, ops.rank, ops.op_name, calls.name_numbers
),
-- example_event_id identifies a sequence, so that its list is not copied for each of its names.
positions AS (
    SELECT
        job,
        rank,
        example_event_id,
        unnest(name_numbers) AS name_number,
        generate_subscripts(name_numbers, 1) AS position
    FROM counted
),
texts AS (
    SELECT
        positions.job,
        positions.rank,
        positions.example_event_id,
        string_agg(names.name, ' | ' ORDER BY positions.position) AS sequence
    FROM positions
    JOIN names ON names.name_number = positions.name_number
    GROUP BY positions.job, positions.rank, positions.example_event_id
)
-- This merges sequences that have the same text because a name contains ' | '.
SELECT
    counted.job,
    counted.rank,
    counted.op_name AS operator,
    coalesce(texts.sequence, '') AS sequence,
    sum(counted.op_count)::BIGINT AS count,
    max(counted.kernel_count) AS kernel_count,
    sum(counted.gpu_ns)::BIGINT AS gpu_ns,
    sum(counted.host_ns)::BIGINT AS host_ns,
    min(counted.example_event_id) AS example_event_id
FROM counted
LEFT JOIN texts
    ON texts.job = counted.job
    AND texts.rank = counted.rank
    AND texts.example_event_id = counted.example_event_id
GROUP BY counted.job, counted.rank, counted.op_name, coalesce(texts.sequence, '')
ORDER BY counted.job, counted.rank, count DESC, counted.op_name, sequence;
