-- Two jobs aligned by operator: which operators are new, gone or changed, and their cost.
--
-- The query aligns a base (before) with a test (after). By default, the base is the first job by
-- name, and the test is the last job by name. From each job, the query takes the first step on the
-- lowest rank, unless other ranks or steps are selected. If that rank has no steps, the query takes
-- its whole trace. If several ranks or steps are selected, operators are listed rank by rank and
-- step by step.
--
--     base          test          relation   position
--     mm  [8,8]     mm  [8,8]     matched    1
--     mul           -             removed    2
--     add           add           matched    3
--     -             clone         inserted   4
--     mm  [8,8]     mm  [8,16]    reshaped   5
--     gelu [8,8]    silu [8,8]    renamed    6
--
-- Within a step, operators are listed thread by thread, and in a thread by their start. The thread
-- of the ProfilerStep annotation comes first. The other threads follow in the order of their first
-- operators.
--
-- The query pairs operators in three passes. Each pass pairs operators that earlier passes left
-- over. Pairs never cross: they are in the same order on both sides:
--
--     relation  which operators
--     matched   same name and same shapes; as many as possible match: they
--               are a longest common subsequence of the two sides
--     reshaped  same name, other shapes, in the same gap between matched
--               operators
--     renamed   same shapes, other name, in the same gap between matched or
--               reshaped operators
--     removed   left over in the base
--     inserted  left over in the test
--
-- If one side has no shapes at all, operators match by name only.
--
-- Operators without recorded shapes count as renamed only if their gap has as many operators in the
-- base as in the test. For example, two operators are paired with two, but not with three.
--
-- An operator's kernels are the GPU activities that it launches itself, with no operator in
-- between.
--
-- A Python function of hta_sql computes the longest common subsequence, exactly. For 100,000
-- operators this takes a few seconds. DuckDB's shell does not have this function and cannot run the
-- query.
--
-- since: 0.1
-- grain: position
-- needs: operators
-- returns:
--   position           BIGINT   -      place in the merged order of both sides, from 1
--   relation           VARCHAR  -      matched, reshaped, renamed, removed or inserted
--   base_name          VARCHAR  -      operator in the base; NULL if inserted
--   test_name          VARCHAR  -      operator in the test; NULL if removed
--   base_dur_ns        BIGINT   ns     host duration in the base
--   test_dur_ns        BIGINT   ns     host duration in the test
--   diff_dur_ns        BIGINT   ns     test_dur_ns - base_dur_ns; NULL if inserted or removed
--   kernel_change      VARCHAR  -      change of the list of kernels: same, replaced, added or
--                                      removed; NULL if neither side has kernels
--   base_kernels       VARCHAR  -      short names of the operator's kernels in the base, in order,
--                                      joined by |
--   test_kernels       VARCHAR  -      short names of the operator's kernels in the test, in order,
--                                      joined by |
--   base_kernel_count  BIGINT   count  number of these kernels in the base
--   test_kernel_count  BIGINT   count  number of these kernels in the test
--   base_kernel_ns     BIGINT   ns     sum of the durations of these kernels in the base
--   test_kernel_ns     BIGINT   ns     sum of the durations of these kernels in the test
--   diff_kernel_ns     BIGINT   ns     test_kernel_ns - base_kernel_ns, with 0 for a side without
--                                      the operator
--   base_input_dims    VARCHAR  -      sizes of the operator's inputs in the base, as JSON
--   test_input_dims    VARCHAR  -      sizes of the operator's inputs in the test, as JSON
--   base_rank          INTEGER  -      rank of the operator in the base
--   test_rank          INTEGER  -      rank of the operator in the test
--   base_event_id      BIGINT   -      event_id of the operator in the base
--   test_event_id      BIGINT   -      event_id of the operator in the test
-- check: relation IN ('matched', 'reshaped', 'renamed', 'removed', 'inserted')
-- check: (base_event_id IS NULL) = (relation = 'inserted')
-- check: (test_event_id IS NULL) = (relation = 'removed')
-- check: relation NOT IN ('matched', 'reshaped') OR base_name = test_name
-- check: relation <> 'renamed' OR base_name <> test_name
-- check: kernel_change IN ('same', 'replaced', 'added', 'removed')
-- reads: aligned_places, compared_sequences, gpu_activities, may_be_compared, merged_places
CREATE OR REPLACE MACRO op_alignment_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: the lowest]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: the lowest]
    base_steps BIGINT[] := NULL,  -- steps of the base
                                  -- [default: the first; the whole trace if there are no steps]
    test_steps BIGINT[] := NULL  -- steps of the test
                                 -- [default: the first; the whole trace if there are no steps]
) AS TABLE
WITH
sequences AS MATERIALIZED (
    FROM compared_sequences(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
-- First pass: same name and same shapes.
base_calls AS (
    SELECT place, hash(name, shapes) AS key FROM sequences WHERE side = 'base'
),
test_calls AS (
    SELECT place, hash(name, shapes) AS key FROM sequences WHERE side = 'test'
),
matched AS MATERIALIZED (
    FROM aligned_places(base_calls, test_calls)
),
matched_places AS (
    SELECT 'base' AS side, base_place AS paired_place FROM matched
    UNION ALL
    SELECT 'test' AS side, test_place AS paired_place FROM matched
),
-- Second pass: same name in the same gap between matched operators. A gap is identified by the
-- number of matched operators before the gap.
gaps AS MATERIALIZED (
    SELECT
        s.side,
        s.place,
        s.name,
        s.shapes,
        m.paired_place IS NOT NULL AS is_paired,
        count(m.paired_place) OVER (PARTITION BY s.side ORDER BY s.place) AS gap
    FROM sequences AS s
    LEFT JOIN matched_places AS m ON m.side = s.side AND m.paired_place = s.place
),
base_names AS (
    SELECT place, hash(gap, name) AS key FROM gaps WHERE side = 'base' AND NOT is_paired
),
test_names AS (
    SELECT place, hash(gap, name) AS key FROM gaps WHERE side = 'test' AND NOT is_paired
),
reshaped AS MATERIALIZED (
    FROM aligned_places(base_names, test_names)
),
pairs AS MATERIALIZED (
    SELECT *, 'matched' AS relation FROM matched
    UNION ALL
    SELECT *, 'reshaped' AS relation FROM reshaped
),
paired_places AS (
    SELECT 'base' AS side, base_place AS paired_place FROM pairs
    UNION ALL
    SELECT 'test' AS side, test_place AS paired_place FROM pairs
),
-- Third pass: same shapes in the gaps that are left.
rest AS MATERIALIZED (
    SELECT
        s.side,
        s.place,
        s.shapes,
        p.paired_place IS NOT NULL AS is_paired,
        count(p.paired_place) OVER (PARTITION BY s.side ORDER BY s.place) AS gap
    FROM sequences AS s
    LEFT JOIN paired_places AS p ON p.side = s.side AND p.paired_place = s.place
),
even_gaps AS (
    SELECT gap
    FROM rest
    WHERE NOT is_paired
    GROUP BY gap
    HAVING count(*) FILTER (side = 'base') = count(*) FILTER (side = 'test')
),
left_over AS MATERIALIZED (
    SELECT
        r.side,
        r.place,
        CASE WHEN r.shapes <> '' OR e.gap IS NOT NULL THEN hash(r.gap, r.shapes) END AS key
    FROM rest AS r
    LEFT JOIN even_gaps AS e ON e.gap = r.gap
    WHERE NOT r.is_paired
),
base_left AS (
    SELECT place, key FROM left_over WHERE side = 'base'
),
test_left AS (
    SELECT place, key FROM left_over WHERE side = 'test'
),
renamed AS MATERIALIZED (
    FROM aligned_places(base_left, test_left)
),
all_pairs AS MATERIALIZED (
    FROM pairs
    UNION ALL
    SELECT *, 'renamed' AS relation FROM renamed
),
positions AS MATERIALIZED (
    FROM merged_places(sequences, all_pairs)
),
kernels AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.op_id,
        string_agg(a.short_name, ' | ' ORDER BY a.start_ns, a.event_id) AS kernels,
        count(*) AS kernel_count,
        sum(a.dur_ns)::BIGINT AS kernel_ns
    FROM gpu_activities AS a
    WHERE may_be_compared(a.job, base_job, test_job)
      AND a.job IN (SELECT job FROM sequences)
      AND a.op_id IS NOT NULL
    GROUP BY a.job, a.rank, a.op_id
),
with_kernels AS MATERIALIZED (
    SELECT
        s.*,
        k.kernels,
        coalesce(k.kernel_count, 0) AS kernel_count,
        coalesce(k.kernel_ns, 0) AS kernel_ns
    FROM sequences AS s
    LEFT JOIN kernels AS k ON k.job = s.job AND k.rank = s.rank AND k.op_id = s.event_id
),
base_ops AS (
    SELECT * FROM with_kernels WHERE side = 'base'
),
test_ops AS (
    SELECT * FROM with_kernels WHERE side = 'test'
)
SELECT
    row_number() OVER (ORDER BY p.pairs_until, p.turn, p.place) AS position,
    p.relation,
    b.name AS base_name,
    t.name AS test_name,
    b.dur_ns AS base_dur_ns,
    t.dur_ns AS test_dur_ns,
    t.dur_ns - b.dur_ns AS diff_dur_ns,
    CASE
        WHEN b.kernels = t.kernels THEN 'same'
        WHEN b.kernels IS NOT NULL AND t.kernels IS NOT NULL THEN 'replaced'
        WHEN b.kernels IS NOT NULL THEN 'removed'
        WHEN t.kernels IS NOT NULL THEN 'added'
    END AS kernel_change,
    b.kernels AS base_kernels,
    t.kernels AS test_kernels,
    b.kernel_count AS base_kernel_count,
    t.kernel_count AS test_kernel_count,
    b.kernel_ns AS base_kernel_ns,
    t.kernel_ns AS test_kernel_ns,
    coalesce(t.kernel_ns, 0) - coalesce(b.kernel_ns, 0) AS diff_kernel_ns,
    b.input_dims AS base_input_dims,
    t.input_dims AS test_input_dims,
    b.rank AS base_rank,
    t.rank AS test_rank,
    b.event_id AS base_event_id,
    t.event_id AS test_event_id
FROM positions AS p
LEFT JOIN base_ops AS b ON b.place = p.base_place
LEFT JOIN test_ops AS t ON t.place = p.test_place
ORDER BY position;
