-- What begins on each thread, in the order from outer to inner, with what is open then; and the
-- ends of annotations, modules and backward passes, and the very last moment.
--
-- Everything is sorted here, once. Windows without an order of their own run over rows as they
-- stand, which costs next to nothing.
CREATE OR REPLACE TEMP TABLE moments AS
WITH
spans AS NOT MATERIALIZED (
    SELECT
        thread,
        4 * (start_ns - (SELECT min(start_ns) FROM host_spans)) AS start_moment,
        4 * (stack_end_ns - (SELECT min(start_ns) FROM host_spans)) AS end_moment,
        start_ns,
        end_ns,
        end_ns = start_ns AS is_empty,
        event_id,
        name_hash,
        (
            is_op::TINYINT
            + 2 * is_annotation::TINYINT
            + 4 * is_module::TINYINT
            + 8 * begins_backward::TINYINT
        )::TINYINT AS what
    FROM host_spans
),
-- At one instant, in this order: spans end, steps change, spans begin, empty spans begin and end.
-- Of what begins at one moment the outer comes first, of what ends the inner.
boundaries AS (
    SELECT
        thread,
        start_moment + CASE WHEN is_empty THEN 2 ELSE 1 END AS moment,
        -end_ns AS longest_first,
        event_id AS lowest_first,
        0 AS highest_first,
        1::TINYINT AS change,
        what,
        name_hash
    FROM spans
    UNION ALL
    SELECT
        thread,
        end_moment + CASE WHEN is_empty THEN 3 ELSE 0 END AS moment,
        -start_ns AS longest_first,
        end_ns AS lowest_first,
        -event_id AS highest_first,
        -1::TINYINT AS change,
        what,
        name_hash
    FROM spans
    UNION ALL
    SELECT
        threads.thread,
        4 * (segments.start_ns - (SELECT min(start_ns) FROM host_spans)) AS moment,
        0 AS longest_first,
        segments.number AS lowest_first,
        0 AS highest_first,
        0::TINYINT AS change,
        0::TINYINT AS what,
        0::UBIGINT AS name_hash
    FROM step_segments AS segments, threads
    ORDER BY thread, moment, longest_first, lowest_first, highest_first
),
-- Every thread's changes add up to nothing, so one running sum serves all threads; one number
-- counts all that is open and, 20 bits higher, the operators among it.
counted AS (
    SELECT
        row_number() OVER () AS place,
        CASE WHEN change = -1 THEN -highest_first ELSE lowest_first END AS event_id,
        change,
        what,
        name_hash,
        (sum(change * (1 + ((what & 1)::BIGINT << 20))) OVER so_far)::BIGINT AS open_counts,
        count(*) FILTER (what > 1) OVER so_far AS stretch
    FROM boundaries
    WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)
),
leveled AS (
    SELECT
        *,
        (open_counts & 1048575) + (change = -1)::BIGINT AS level
    FROM counted
)
SELECT
    place,
    event_id,
    change,
    what,
    level,
    open_counts >> 20 AS op_level,
    stretch,
    arg_max(event_id, place) FILTER (change = 0) OVER so_far AS segment,
    -- Of all that is open, each with its level; what ends takes its own part out again.
    bit_xor(hash(xor(name_hash, level::UBIGINT))) FILTER (change <> 0) OVER so_far AS stack_hash,
    -- Back to 0 in the end, where everything ends on the level on which it began.
    bit_xor(hash(event_id + (level << 40))) FILTER (change <> 0) OVER so_far AS open_hash
FROM leveled
WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)
QUALIFY change = 1 OR what > 1 OR place = (
    (SELECT 2 * count(*) FROM host_spans) + (SELECT count(*) FROM step_segments, threads)
);
