-- Where the spans of host_spans begin and end, thread by thread, and how many are open there.
--
-- Everything is sorted here, once. From here on windows without an order of their own run over
-- tables as they stand, which costs next to nothing; DuckDB keeps a table's order.

-- Four moments at one instant, in this order: spans end, spans begin, empty spans begin and end.
-- Of those that begin at one moment the outer comes first, of those that end the inner.
CREATE OR REPLACE TEMP TABLE boundaries AS
WITH
spans AS (
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
)
SELECT
    thread,
    start_moment + CASE WHEN is_empty THEN 2 ELSE 1 END AS moment,
    -end_ns AS longest_first,
    event_id AS lowest_first,
    0 AS highest_first,
    name_hash,
    what
FROM spans
UNION ALL
SELECT
    thread,
    end_moment + CASE WHEN is_empty THEN 3 ELSE 0 END AS moment,
    -start_ns AS longest_first,
    end_ns AS lowest_first,
    -event_id - 1 AS highest_first,
    name_hash,
    what
FROM spans
ORDER BY thread, moment, longest_first, lowest_first, highest_first;

-- Every thread's changes add up to nothing, so one running sum serves all threads; one number
-- counts all that is open and, 20 bits higher, the operators among it.
CREATE OR REPLACE TEMP TABLE counted AS
WITH
changes AS (
    SELECT
        row_number() OVER () AS place,
        highest_first = 0 AS begins,
        CASE WHEN begins THEN lowest_first ELSE -highest_first - 1 END AS event_id,
        CASE WHEN begins THEN 1 ELSE -1 END AS change,
        CASE WHEN begins THEN (SELECT min(start_ns) FROM host_spans) + moment // 4 END AS start_ns,
        name_hash,
        what
    FROM boundaries
)
SELECT
    place,
    event_id,
    begins,
    start_ns,
    what,
    (sum(change * (1 + ((what & 1)::BIGINT << 20))) OVER so_far)::BIGINT AS open_counts,
    count(*) FILTER (what > 1) OVER so_far AS stretch,
    name_hash
FROM changes
WINDOW so_far AS (ROWS UNBOUNDED PRECEDING);

DROP TABLE boundaries;
