-- One row per activity that has no host annotation and runs inside an annotation on the GPU.
--
-- `activities` has job, rank, device, stream, event_id, start_ns, end_ns and annotation_id.
-- `jobs` and `ranks`: the jobs and ranks in `activities`; only their events are read (NULL: all).
--
-- Returns job, rank, event_id (the activity's), name and path. `name` is the name of the innermost
-- annotation around the activity. `path` has the names of all annotations around the activity,
-- from outer to inner, separated by `;`.
--
-- reads: events
CREATE OR REPLACE MACRO gpu_annotation_paths(activities, jobs, ranks) AS TABLE
WITH
-- An outer annotation has a lower number than the annotations inside it. So the open annotation
-- with the highest number is the innermost.
gpu_annotations AS MATERIALIZED (
    SELECT
        row_number() OVER (
            ORDER BY job, rank, device, stream, start_ns, end_ns DESC, event_id
        ) AS number,
        dense_rank() OVER (ORDER BY job, rank, device, stream) AS stream_number,
        *
    FROM (
        SELECT
            e.job,
            e.rank,
            coalesce(e.device, TRY_CAST(e.pid AS BIGINT)) AS device,
            coalesce(e.stream, TRY_CAST(e.tid AS BIGINT)) AS stream,
            e.event_id,
            e.name,
            e.start_ns,
            e.end_ns
        FROM events AS e
        WHERE e.cat = 'gpu_user_annotation'
          AND e.ph = 'X'
          AND (jobs IS NULL OR list_contains(jobs, e.job))
          AND (ranks IS NULL OR list_contains(ranks, e.rank))
    )
),
streams AS (
    SELECT DISTINCT stream_number, job, rank, device, stream
    FROM gpu_annotations
),
-- Each stream's time is cut wherever an annotation begins or ends. The pieces are numbered.
pieces AS (
    SELECT
        row_number() OVER (ORDER BY stream_number, start_ns) AS piece,
        stream_number,
        start_ns
    FROM (
        SELECT stream_number, start_ns FROM gpu_annotations
        UNION
        SELECT stream_number, end_ns AS start_ns FROM gpu_annotations
    )
),
-- One row per annotation and piece that the annotation covers. The number of rows is about the
-- number of pieces times the depth of nesting.
open_annotations AS (
    SELECT
        g.number,
        g.end_ns,
        unnest(range(first_piece.piece, end_piece.piece)) AS piece
    FROM gpu_annotations AS g
    JOIN pieces AS first_piece
        ON first_piece.stream_number = g.stream_number AND first_piece.start_ns = g.start_ns
    JOIN pieces AS end_piece
        ON end_piece.stream_number = g.stream_number AND end_piece.start_ns = g.end_ns
),
without_host AS (
    SELECT a.job, a.rank, a.event_id, streams.stream_number, a.start_ns, a.end_ns
    FROM query_table(activities) AS a
    JOIN streams
        ON streams.job = a.job
        AND streams.rank = a.rank
        AND streams.device IS NOT DISTINCT FROM a.device
        AND streams.stream IS NOT DISTINCT FROM a.stream
    WHERE a.annotation_id IS NULL
),
-- A running maximum finds the piece in which an activity starts. An ASOF join could be slower: if
-- DuckDB expects few rows, the join takes quadratic time.
moments AS (
    SELECT stream_number, start_ns AS at_ns, piece, NULL::BIGINT AS event_id
    FROM pieces
    UNION ALL
    SELECT stream_number, start_ns AS at_ns, NULL AS piece, event_id
    FROM without_host
),
last_pieces AS (
    SELECT
        stream_number,
        event_id,
        max(piece) OVER (
            PARTITION BY stream_number
            ORDER BY at_ns, event_id NULLS FIRST
            ROWS UNBOUNDED PRECEDING
        ) AS piece
    FROM moments
),
in_pieces AS (
    SELECT a.job, a.rank, a.event_id, a.end_ns, last_pieces.piece
    FROM without_host AS a
    JOIN last_pieces
        ON last_pieces.stream_number = a.stream_number
        AND last_pieces.event_id = a.event_id
),
-- The FILTER leaves out annotations that end before the activity. The same condition in the join
-- would make the join a range join, which is slower.
innermost AS (
    SELECT
        a.job,
        a.rank,
        a.event_id,
        max(o.number) FILTER (o.end_ns >= a.end_ns) AS number
    FROM in_pieces AS a
    JOIN open_annotations AS o ON o.piece = a.piece
    GROUP BY a.job, a.rank, a.event_id
),
-- The annotations that are the innermost annotation around an activity. Only they need a path. All
-- annotations around a chosen annotation are open in the piece in which the chosen one begins.
chosen AS (
    SELECT g.number, g.name, g.end_ns, pieces.piece
    FROM gpu_annotations AS g
    JOIN pieces ON pieces.stream_number = g.stream_number AND pieces.start_ns = g.start_ns
    WHERE g.number IN (SELECT number FROM innermost)
),
gpu_paths AS (
    SELECT
        c.number,
        c.name,
        string_agg(outer_one.name, ';' ORDER BY o.number) FILTER (o.end_ns >= c.end_ns) AS path
    FROM chosen AS c
    JOIN open_annotations AS o ON o.piece = c.piece
    JOIN gpu_annotations AS outer_one ON outer_one.number = o.number
    GROUP BY c.number, c.name
)
SELECT i.job, i.rank, i.event_id, p.name, p.path
FROM innermost AS i
JOIN gpu_paths AS p ON p.number = i.number;
