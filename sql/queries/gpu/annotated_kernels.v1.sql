-- Each GPU activity with the annotation that it belongs to.
--
-- That is the innermost host annotation around its launch, on the launching thread. An activity
-- without one belongs to the innermost GPU annotation over it on its stream: among those that it
-- begins in and that end no sooner than it, the one that began last; of equal starts the shorter,
-- of equal spans that with the higher event_id.
--
--     host      [= step =================)
--                   [= loss =)
--     launch     1    2          4          3 by another thread
--     GPU          [1)   [2) [3)    [4==)
--     gpu          [= step =============)
--                        [=)
--
--     1 step, 2 step;loss, 4 step: by their launches; 3 step: by the GPU annotation over it
--
-- The second rule is for what another thread launched, as most of a backward pass, and for what has
-- no known launch. It is a guess: whatever runs on a stream between two activities of an annotation
-- looks as if it were of it.
--
-- `annotation_path` names all annotations from the outermost in: those around the host annotation
-- on its thread, or those on the stream that contain the GPU annotation. Only activities are
-- selected: an annotation is told although it is of a step that is not.
--
-- HTA's get_gpu_kernels_with_user_annotations takes, whatever launched the activity, the shortest
-- GPU annotation on its stream that overlaps it anywhere, and says nothing of traces that have only
-- host annotations.
--
-- since: 0.1
-- grain: job, rank, event_id
-- returns:
--   job                VARCHAR  -   run of a program
--   rank               INTEGER  -   rank of the process
--   event_id           BIGINT   -   the activity
--   device             BIGINT   -   GPU, as the process numbers it
--   stream             BIGINT   -   its stream
--   kind               VARCHAR  -   computation, communication or memory
--   name               VARCHAR  -   name of the activity
--   start_ns           BIGINT   ns  its start
--   dur_ns             BIGINT   ns  its duration
--   step               BIGINT   -   step in which its launch began
--   annotation         VARCHAR  -   name of the annotation; NULL: none
--   annotation_path    VARCHAR  -   names of all around it, outermost first, joined by ;
--   annotation_source  VARCHAR  -   host: around its launch; gpu: over it on its stream
-- check: dur_ns >= 0
-- check: annotation_source IN ('host', 'gpu')
-- check: annotation IS NULL OR annotation_source IS NOT NULL
-- check: suffix(annotation_path, annotation)
CREATE OR REPLACE MACRO annotated_kernels_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list; NULL means all
    only_ranks INTEGER[] := NULL,  -- ranks to list; NULL means all
    only_steps BIGINT[] := NULL,  -- steps to list; NULL means all, and what runs outside steps
    name_contains VARCHAR := NULL  -- only activities with this in their name, case and all
) AS TABLE
WITH RECURSIVE
names AS MATERIALIZED (
    FROM numbered_names(only_jobs, only_ranks, only_steps, name_contains)
),
activities AS (
    SELECT
        a.job,
        a.rank,
        a.event_id,
        a.device,
        a.stream,
        a.kind,
        names.name_number,
        a.start_ns,
        a.dur_ns,
        a.end_ns,
        a.step,
        a.annotation_id
    FROM activities_of(only_jobs, only_ranks, only_steps) AS a
    JOIN names ON names.name IS NOT DISTINCT FROM a.name
),
host_annotations AS (
    SELECT o.job, o.rank, o.event_id, o.annotation_id AS outer_id, o.name
    FROM host_ops AS o
    WHERE o.cat = 'user_annotation'
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
-- Of each activity's annotation, itself and all that are around it.
host_around AS (
    SELECT h.job, h.rank, h.event_id, h.name, h.outer_id, 0 AS height
    FROM host_annotations AS h
    SEMI JOIN activities AS a
        ON a.job = h.job AND a.rank = h.rank AND a.annotation_id = h.event_id
    UNION ALL
    SELECT i.job, i.rank, i.event_id, h.name, h.outer_id, i.height + 1 AS height
    FROM host_around AS i
    JOIN host_annotations AS h
        ON h.job = i.job AND h.rank = i.rank AND h.event_id = i.outer_id
),
host_paths AS (
    SELECT
        job,
        rank,
        event_id,
        any_value(name) FILTER (height = 0) AS name,
        string_agg(name, ';' ORDER BY height DESC) AS path
    FROM host_around
    GROUP BY job, rank, event_id
),
-- From here on, what runs without a host annotation. GPU annotations in the order from outer to
-- inner, so that of those open at an instant the last one is the innermost.
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
          AND (only_jobs IS NULL OR list_contains(only_jobs, e.job))
          AND (only_ranks IS NULL OR list_contains(only_ranks, e.rank))
    )
),
streams AS (
    SELECT DISTINCT stream_number, job, rank, device, stream
    FROM gpu_annotations
),
-- Each stream's time is cut wherever an annotation begins or ends; pieces are numbered.
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
-- An annotation once for each piece that it covers: all in all, pieces times the depth of nesting.
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
    FROM activities AS a
    JOIN streams
        ON streams.job = a.job
        AND streams.rank = a.rank
        AND streams.device IS NOT DISTINCT FROM a.device
        AND streams.stream IS NOT DISTINCT FROM a.stream
    WHERE a.annotation_id IS NULL
),
-- The last piece to begin before an activity, by a running maximum; DuckDB plans an ASOF join as a
-- quadratic one where it expects few rows.
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
-- That an annotation ends too soon is no condition of the join, for which it would be a range.
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
-- Paths only of what is some activity's annotation; what contains it is open where it begins.
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
SELECT
    a.job,
    a.rank,
    a.event_id,
    a.device,
    a.stream,
    a.kind,
    names.name,
    a.start_ns,
    a.dur_ns,
    a.step,
    coalesce(host_paths.name, gpu_paths.name) AS annotation,
    coalesce(host_paths.path, gpu_paths.path) AS annotation_path,
    CASE
        WHEN host_paths.event_id IS NOT NULL THEN 'host'
        WHEN gpu_paths.number IS NOT NULL THEN 'gpu'
    END AS annotation_source
FROM activities AS a
JOIN names ON names.name_number = a.name_number
LEFT JOIN host_paths
    ON host_paths.job = a.job
    AND host_paths.rank = a.rank
    AND host_paths.event_id = a.annotation_id
LEFT JOIN innermost
    ON innermost.job = a.job AND innermost.rank = a.rank AND innermost.event_id = a.event_id
LEFT JOIN gpu_paths ON gpu_paths.number = innermost.number
ORDER BY a.job, a.rank, a.event_id;
