-- One row per node of the ranks' graphs: the start and the end of each span, each activity and each
-- window.
--
-- The nodes of all ranks of a job are numbered from 0, rank after rank. The nodes of a rank are
-- numbered thread after thread, then stream after stream, each in order of time. The window's two
-- nodes come last and have no event.
--
-- Nodes of a thread at the same instant are in this order:
--   * ends of spans that began earlier, inner spans before outer spans
--   * starts of spans that end later, outer spans before inner spans
--   * starts, then ends, of spans of length zero. So a span of length zero lies inside the spans
--     that begin at the same instant.
CREATE OR REPLACE TEMP TABLE path_nodes AS
WITH
points AS (
    SELECT
        rank,
        thread,
        event_id,
        true AS is_start,
        start_ns AS at_ns,
        CASE WHEN end_ns > start_ns THEN 1 ELSE 2 END AS phase,
        -end_ns AS outer_first,
        event_id AS turn
    FROM path_spans
    UNION ALL
    SELECT
        rank,
        thread,
        event_id,
        false AS is_start,
        end_ns AS at_ns,
        CASE WHEN end_ns > start_ns THEN 0 ELSE 3 END AS phase,
        -start_ns AS outer_first,
        -event_id AS turn
    FROM path_spans
    UNION ALL
    SELECT
        rank,
        NULL AS thread,
        event_id,
        true AS is_start,
        start_ns AS at_ns,
        0 AS phase,
        0 AS outer_first,
        2 * turn AS turn
    FROM path_activities
    UNION ALL
    SELECT
        rank,
        NULL AS thread,
        event_id,
        false AS is_start,
        end_ns AS at_ns,
        0 AS phase,
        0 AS outer_first,
        2 * turn + 1 AS turn
    FROM path_activities
    UNION ALL
    SELECT
        rank,
        NULL AS thread,
        NULL AS event_id,
        is_start,
        if(is_start, since_ns, until_ns) AS at_ns,
        1 AS phase,
        0 AS outer_first,
        CASE WHEN is_start THEN 0 ELSE 1 END AS turn
    FROM (SELECT *, unnest([true, false]) AS is_start FROM job_windows)
    WHERE list_contains(getvariable('path_ranks'), rank)
)
SELECT
    row_number() OVER (
        ORDER BY
            rank,
            thread NULLS LAST,
            CASE WHEN thread IS NOT NULL THEN at_ns END,
            phase,
            outer_first,
            turn
    ) - 1 + (SELECT count(*) FROM job_nodes) AS node,
    rank,
    thread,
    event_id,
    is_start,
    at_ns
FROM points;
