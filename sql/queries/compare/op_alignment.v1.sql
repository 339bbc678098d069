-- Two runs operator by operator: which call is which, what is new or gone, and what each one costs.
--
-- The base is what was before, the test what is asked about. Unless told, it is one step on one
-- rank of each: of the first job by name and of the last, the lowest rank and the first step; of a
-- rank without steps the whole trace. Of several ranks and steps the operators follow one another.
--
--     base          test          relation   position
--     mm  [8,8]     mm  [8,8]     matched    1
--     mul           -             removed    2
--     add           add           matched    3
--     -             clone         inserted   4
--     mm  [8,8]     mm  [8,16]    reshaped   5
--     gelu [8,8]    silu [8,8]    renamed    6
--
-- Operators are in the order in which they began, thread by thread: first that of the step, then
-- the others by their first operator. `matched` are those of the same name on the same shapes in a
-- longest common subsequence of the two, so that as many as possible are. What lies between two
-- matched ones is `reshaped` where the names go on to match, then `renamed` where the shapes do,
-- or, without shapes, where just as many are left on both sides; else `removed` and `inserted`.
-- Where either trace has no shapes, names alone have to match.
--
-- Kernels are those that the operator launched itself, with no operator between.
--
-- The common subsequence is found by hta_sql in Python, exactly: 100,000 operators take a few
-- seconds. DuckDB's shell alone cannot.
--
-- HTA has no counterpart: ops_diff counts by name.
--
-- since: 0.1
-- grain: position
-- returns:
--   position           BIGINT   -      from 1, in the order of both
--   relation           VARCHAR  -      matched, reshaped, renamed, removed or inserted
--   base_name          VARCHAR  -      operator in the base; NULL: inserted
--   test_name          VARCHAR  -      operator in the test; NULL: removed
--   base_dur_ns        BIGINT   ns     its duration on the host
--   test_dur_ns        BIGINT   ns     likewise
--   diff_dur_ns        BIGINT   ns     test - base; NULL where either is missing
--   kernel_change      VARCHAR  -      same, replaced, added or removed, by names of kernels; NULL
--                                      where there are none
--   base_kernels       VARCHAR  -      short names of its kernels in order, joined by |
--   test_kernels       VARCHAR  -      likewise
--   base_kernel_count  BIGINT   count  how many
--   test_kernel_count  BIGINT   count  likewise
--   base_kernel_ns     BIGINT   ns     sum of their durations
--   test_kernel_ns     BIGINT   ns     likewise
--   diff_kernel_ns     BIGINT   ns     test - base; what is missing takes nothing
--   base_input_dims    VARCHAR  -      sizes of its inputs, as JSON
--   test_input_dims    VARCHAR  -      likewise
--   base_rank          INTEGER  -      where it is
--   test_rank          INTEGER  -      likewise
--   base_event_id      BIGINT   -      likewise
--   test_event_id      BIGINT   -      likewise
-- check: relation IN ('matched', 'reshaped', 'renamed', 'removed', 'inserted')
-- check: (base_event_id IS NULL) = (relation = 'inserted')
-- check: (test_event_id IS NULL) = (relation = 'removed')
-- check: relation NOT IN ('matched', 'reshaped') OR base_name = test_name
-- check: relation <> 'renamed' OR base_name <> test_name
-- check: kernel_change IN ('same', 'replaced', 'added', 'removed')
-- reads: aligned_places, compared_sequences, gpu_activities, may_be_compared, merged_places
CREATE OR REPLACE MACRO op_alignment_v1(
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: the lowest]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: the lowest]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the first; else the whole trace]
    test_steps BIGINT[] := NULL  -- steps of the test [default: the first; else the whole trace]
) AS TABLE
WITH
sequences AS MATERIALIZED (
    FROM compared_sequences(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
-- First those of the same name and shapes.
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
-- Then those of the same name in the same gap between matched ones, by the number of these before.
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
-- Then those of the same shapes in what is left.
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
