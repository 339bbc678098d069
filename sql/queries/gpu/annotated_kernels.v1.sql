-- Each GPU activity with the annotation that it belongs to.
--
-- Two rules find the annotation of an activity. The GPU rule applies only if the host rule finds no
-- annotation:
--   * Host rule: the activity belongs to the innermost host annotation around its launch, on the
--     launching thread.
--   * GPU rule: the activity belongs to a GPU annotation that contains it, on the same stream. The
--     activity begins inside this annotation and does not end after it. If several annotations
--     contain the activity, the query chooses the one with the latest start. If several of them
--     have this start, the query chooses the shortest. If several are equally short, the query
--     chooses the one with the highest event_id.
--
--     host      [= step =================)
--                   [= loss =)
--     launch     1    2          4
--     launch                3              on another thread
--     activity     [1)   [2) [3)    [4==)
--     gpu annot.   [====================)     step
--                        [=)                  loss
--
--     1  step       host rule
--     2  step;loss  host rule
--     3  step       GPU rule
--     4  step       host rule
--
-- The GPU rule covers activities that another thread launched, such as most of a backward pass, and
-- activities without a known launch. The GPU rule is a guess: if an activity of other code runs
-- between two activities of an annotation, on the same stream, it also gets that annotation.
--
-- `annotation_path` lists the annotation and all annotations around it, outermost first. With the
-- host rule, these are host annotations on the same thread. With the GPU rule, these are GPU
-- annotations on the same stream that contain the chosen annotation.
--
-- The parameters select activities, not annotations. For example, an activity of a selected step is
-- reported with its annotation even if that annotation began in another step.
--
-- HTA's get_gpu_kernels_with_user_annotations ignores the launch. It takes the shortest GPU
-- annotation on the activity's stream that overlaps any part of the activity. It reports nothing
-- for traces that have only host annotations.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: gpu_activities
-- returns:
--   job                VARCHAR  -   run of a program
--   rank               INTEGER  -   rank of the process
--   event_id           BIGINT   -   event_id of the activity
--   device             BIGINT   -   GPU, as the process numbers it
--   stream             BIGINT   -   stream of the activity
--   kind               VARCHAR  -   computation, communication or memory
--   name               VARCHAR  -   name of the activity
--   start_ns           BIGINT   ns  start of the activity
--   dur_ns             BIGINT   ns  duration of the activity
--   step               BIGINT   -   step in which the activity's launch began
--   annotation         VARCHAR  -   name of the annotation; NULL if there is none
--   annotation_path    VARCHAR  -   the annotation and all annotations around it, outermost
--                                   first, joined by ;
--   annotation_source  VARCHAR  -   host: found by the host rule; gpu: found by the GPU rule
-- check: dur_ns >= 0
-- check: annotation_source IN ('host', 'gpu')
-- check: annotation IS NULL OR annotation_source IS NOT NULL
-- check: suffix(annotation_path, annotation)
-- reads: activities_of, gpu_annotation_paths, host_annotation_paths, numbered_names
CREATE OR REPLACE MACRO annotated_kernels_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL,  -- steps to list [default: the whole trace]
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
