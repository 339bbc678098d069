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
-- reads: activities_of, gpu_annotation_paths, host_annotation_paths, numbered_names
CREATE OR REPLACE MACRO annotated_kernels_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL,  -- steps to list [default: all, also outside steps]
    name_contains VARCHAR := NULL  -- only names that contain this; case matters [default: all]
) AS TABLE
WITH
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
    coalesce(h.name, g.name) AS annotation,
    coalesce(h.path, g.path) AS annotation_path,
    CASE
        WHEN h.event_id IS NOT NULL THEN 'host'
        WHEN g.event_id IS NOT NULL THEN 'gpu'
    END AS annotation_source
FROM activities AS a
JOIN names ON names.name_number = a.name_number
LEFT JOIN host_annotation_paths(activities, only_jobs, only_ranks) AS h
    ON h.job = a.job AND h.rank = a.rank AND h.event_id = a.annotation_id
LEFT JOIN gpu_annotation_paths(activities, only_jobs, only_ranks) AS g
    ON g.job = a.job AND g.rank = a.rank AND g.event_id = a.event_id
ORDER BY a.job, a.rank, a.event_id;
