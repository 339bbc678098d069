-- What calls what: each span with its level, its caller, and what else is known where it begins.
--
-- Everything is sorted here, twice: into the order from outer to inner, then by level. Windows
-- without an order of their own run over rows as they stand, which costs next to nothing.

-- Where spans begin and end, and where a thread's step changes. At one instant, in this order:
-- spans end and steps change, spans begin, empty spans begin and end. Of what begins at one moment
-- the outer comes first, of what ends the inner; a caller is never shorter than what it calls.
-- Three keys of eight bytes: a sort with more takes half as long again.
CREATE OR REPLACE TEMP VIEW boundaries AS
WITH
spans AS NOT MATERIALIZED (
    SELECT
        *,
        start_at = end_at AS is_empty,
        (
            is_op::TINYINT
            + 2 * is_annotation::TINYINT
            + 4 * is_module::TINYINT
            + 8 * begins_backward::TINYINT
        )::TINYINT AS what
    FROM host_spans
),
segments AS (
    SELECT number, start_ns FROM step_segments
    UNION ALL
    SELECT 0 AS number, NULL AS start_ns  -- what is before the first
)
SELECT
    4 * start_at + CASE WHEN is_empty THEN 2 ELSE 1 END AS moment,
    start_at - end_at AS longest_first,
    event_id AS outer_first,
    1::TINYINT AS change,
    what,
    name_hash
FROM spans
UNION ALL
SELECT
    4 * stack_end_at + CASE WHEN is_empty THEN 3 ELSE 0 END AS moment,
    end_at - start_at AS longest_first,
    -event_id AS outer_first,
    -1::TINYINT AS change,
    what,
    name_hash
FROM spans
UNION ALL
SELECT
    4 * (greatest(segments.start_ns, threads.start_ns) + threads.shift_ns) AS moment,
    0 AS longest_first,
    segments.number AS outer_first,
    0::TINYINT AS change,
    0::TINYINT AS what,
    0::UBIGINT AS name_hash
FROM segments, threads
WHERE coalesce(segments.start_ns <= threads.end_ns, true);

CREATE OR REPLACE TEMP TABLE begun AS
WITH
in_order AS (
    SELECT *
    FROM boundaries
    ORDER BY moment, longest_first, outer_first
),
-- A thread's changes add up to nothing, so one running sum serves all threads; one number counts
-- all that is open and, 20 bits higher, the operators among it.
counted AS (
    SELECT
        row_number() OVER () AS place,
        abs(outer_first) AS event_id,
        (moment >> 2) - longest_first AS end_at,
        change,
        what,
        name_hash,
        (sum(change * (1 + ((what & 1)::BIGINT << 20))) OVER so_far)::BIGINT AS open_counts,
        count(*) FILTER (what > 1) OVER so_far AS stretch
    FROM in_order
    WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)
),
leveled AS (
    SELECT
        *,
        (open_counts & 1048575) + (change = -1)::BIGINT AS level
    FROM counted
),
moments AS (
    SELECT
        *,
        arg_max(event_id, place) FILTER (change = 0) OVER so_far AS segment,
        -- Of all that is open, each with its level; what ends takes its own part out again.
        bit_xor(hash(xor(name_hash, level::UBIGINT))) FILTER (change <> 0) OVER so_far
            AS stack_hash
    FROM leveled
    WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)
)
SELECT
    place,
    event_id,
    end_at,
    what,
    level::INTEGER AS level,
    ((open_counts >> 20) - (what & 1))::INTEGER AS level_of_its_op,
    -- What begins a stretch is itself its innermost; around it is what was before.
    (stretch - (what > 1)::BIGINT)::INTEGER AS stretch,
    segment::INTEGER AS segment,
    stack_hash
FROM moments
WHERE change = 1;

CREATE OR REPLACE TEMP TABLE callers AS
WITH
-- The first that a caller calls begins right after it, a level deeper.
beside_previous AS (
    SELECT
        *,
        arg_max(event_id, place) FILTER (level = 1) OVER (ROWS UNBOUNDED PRECEDING) AS root_id,
        level > 1 AND lag(level) OVER () = level - 1 AS is_first,
        2 * lag(event_id) OVER () + (lag(what) OVER () & 1) AS previous,
        lag(end_at) OVER () AS previous_end_at
    FROM begun
),
by_level AS (
    SELECT *
    FROM beside_previous
    ORDER BY level, place
),
numbered AS (
    SELECT *, row_number() OVER () AS number
    FROM by_level
),
-- What follows on its level has the same caller, until another calls its first.
with_callers AS (
    SELECT
        *,
        arg_max(previous, number) FILTER (is_first) OVER so_far AS caller,
        arg_max(previous_end_at, number) FILTER (is_first) OVER so_far AS caller_end_at
    FROM numbered
    WINDOW so_far AS (ROWS UNBOUNDED PRECEDING)
)
SELECT
    place,
    event_id,
    what,
    level,
    level_of_its_op,
    stretch,
    segment,
    stack_hash,
    root_id,
    CASE WHEN level > 1 THEN caller >> 1 END AS parent_id,
    level > 1 AND caller & 1 = 1 AS is_called_by_op,
    level > 1 AND end_at > caller_end_at AS outlives_caller
FROM with_callers;

DROP TABLE begun;
