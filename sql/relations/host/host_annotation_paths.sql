-- One row per host annotation that is the innermost annotation of an activity.
--
-- `activities` has job, rank and annotation_id.
-- `jobs` and `ranks`: the jobs and ranks in `activities`; only their events are read (NULL: all).
--
-- Returns job, rank, event_id (the annotation's), name and path. `path` has the names of the
-- annotation and of all annotations around it, from outer to inner, separated by `;`.
--
-- reads: host_ops
CREATE OR REPLACE MACRO host_annotation_paths(activities, jobs, ranks) AS TABLE
WITH RECURSIVE
host_annotations AS (
    SELECT o.job, o.rank, o.event_id, o.annotation_id AS outer_id, o.name
    FROM host_ops AS o
    WHERE o.cat = 'user_annotation'
      AND (jobs IS NULL OR list_contains(jobs, o.job))
      AND (ranks IS NULL OR list_contains(ranks, o.rank))
),
-- One row per annotation of an activity and per annotation at or around it. `height` is 0 for the
-- annotation itself.
host_around AS (
    SELECT h.job, h.rank, h.event_id, h.name, h.outer_id, 0 AS height
    FROM host_annotations AS h
    SEMI JOIN query_table(activities) AS a
        ON a.job = h.job AND a.rank = h.rank AND a.annotation_id = h.event_id
    UNION ALL
    SELECT i.job, i.rank, i.event_id, h.name, h.outer_id, i.height + 1 AS height
    FROM host_around AS i
    JOIN host_annotations AS h
        ON h.job = i.job AND h.rank = i.rank AND h.event_id = i.outer_id
)
SELECT
    job,
    rank,
    event_id,
    any_value(name) FILTER (height = 0) AS name,
    string_agg(name, ';' ORDER BY height DESC) AS path
FROM host_around
GROUP BY job, rank, event_id;
