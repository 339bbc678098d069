-- Each GPU activity with the annotation that it belongs to.
--
-- Two rules look for the annotation. The first rule that finds one decides:
--   * The activity belongs to the innermost host annotation around its launch, on the launching
--     thread.
--   * Otherwise it belongs to the innermost GPU annotation over it on its stream. The activity
--     begins in that annotation and does not end after it. If several GPU annotations qualify, the
--     one that began last is chosen; of equal starts the shorter one; of equal spans the one with
--     the higher event_id.
--
--     host      [= step =================)
--                   [= loss =)
--     launch     1    2          4          3 on another thread
--     GPU          [1)   [2) [3)    [4==)
--     gpu          [= step =============)
--                        [=)
--
--     1 step, 2 step;loss, 4 step: from their launches; 3 step: from the GPU annotation over it
--
-- The second rule covers activities that another thread launched, such as most of a backward pass,
-- and activities without a known launch. It is a guess: an activity that runs between two
-- activities of an annotation, on the same stream, looks as if it belongs to that annotation.
--
-- `annotation_path` names all annotations, outermost first: the host annotation and those around it
-- on its thread, or the GPU annotation and those on its stream that contain it. The parameters
-- select activities only. An activity's annotation is reported even if it is in a step that is not
-- selected.
--
-- HTA's get_gpu_kernels_with_user_annotations ignores the launch. It takes the shortest GPU
-- annotation on the activity's stream that overlaps the activity anywhere. It reports nothing for
-- traces that have only host annotations.
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
--   annotation         VARCHAR  -   name of the annotation; NULL if there is none
--   annotation_path    VARCHAR  -   its name and those around it, outermost first, joined by ;
--   annotation_source  VARCHAR  -   host: around its launch; gpu: over it on its stream
-- check: dur_ns >= 0
-- check: annotation_source IN ('host', 'gpu')
-- check: annotation IS NULL OR annotation_source IS NOT NULL
-- check: suffix(annotation_path, annotation)
-- reads: activities_of, gpu_annotation_paths, host_annotation_paths, numbered_names
CREATE OR REPLACE MACRO annotated_kernels_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL,  -- steps to list [default: all, inside and outside steps]
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
