-- Each annotation's count, durations and GPU busy time, per rank.
--
-- Annotations are named spans of the program and its libraries: record_function, a profiler step,
-- an optimizer's step, a collective. `source` selects which spans are measured:
--   * host: the span of the annotated code on its thread.
--   * gpu: the span that the profiler records on a stream for this code. It runs from the first
--     start to the last end of the activities that the code launched to this stream. Activities
--     that a nested annotation launched do not extend this span. If the code launched to several
--     streams, the annotation counts once on each.
--
--     host      [= step =================)
--                   [= loss =)
--     launch     a    b   c      d
--     activity     [a)   [b)[c=)    [d==)
--     gpu          [= step =============)
--                        [ loss)
--
-- For host annotations, gpu_busy_ns includes nested annotations:
--
--     step: durations of a, b, c, d    2 + 2 + 3 + 4 = 11
--     loss: durations of b, c          2 + 3 = 5
--
-- Sums and statistics are over single annotations, so overlapping annotations each count in full.
-- stddev_ns is the standard deviation of a sample; it is 0 for a single annotation. Means and
-- deviations are rounded to whole ns.
--
-- `gpu_busy_ns` is NULL with source gpu. With source host, it is the time in which at least one
-- activity of the row runs, on any device. An activity belongs to the row if it was launched inside
-- an annotation of the row, on the thread of this annotation, at any depth. Activities that other
-- threads launch at the same time do not count, such as most of a backward pass. profiler_steps has
-- the busy time of whole steps, with the launches of all threads.
--
-- A host annotation belongs to the step in which it begins. A GPU annotation belongs to the step of
-- its host annotation: the one with the same `External id`. A GPU annotation without a host
-- annotation belongs to no step. `only_steps` selects the annotations of those steps. gpu_busy_ns
-- then counts only activities of those steps.
--
-- HTA's get_gpu_user_annotation_breakdown reports the sum, mean, min, max and stddev, from times
-- cut to whole us. If a trace has two or more steps, HTA drops the last step. HTA then also drops
-- GPU annotations of earlier steps if they begin after the last step begins on the host.
--
-- HTA keeps at most 1,000 names by default. If a rank has more names, HTA first adds up the
-- durations of each name's annotations, and then takes the statistics over these sums. The mean,
-- min and max of a kept name are then equal to its sum, and its stddev is 0.
--
-- since: 0.1
-- grain: job, rank, name
-- needs: gpu_annotations if source = gpu, host_annotations if source = host
-- returns:
--   job          VARCHAR  -      run of a program
--   rank         INTEGER  -      rank of the process
--   name         VARCHAR  -      name of the annotation
--   count        BIGINT   count  annotations of that name
--   total_ns     BIGINT   ns     sum of the annotations' durations
--   mean_ns      BIGINT   ns     mean of the annotations' durations
--   min_ns       BIGINT   ns     shortest duration
--   max_ns       BIGINT   ns     longest duration
--   stddev_ns    BIGINT   ns     sample standard deviation of the durations
--   gpu_busy_ns  BIGINT   ns     source host: busy time of the activities launched in these
--                                annotations, as above; source gpu: NULL
-- check: count > 0
-- check: min_ns <= mean_ns AND mean_ns <= max_ns
-- check: total_ns BETWEEN count * min_ns AND count * max_ns
-- check: stddev_ns >= 0 AND (stddev_ns = 0 OR min_ns < max_ns)
-- check: gpu_busy_ns >= 0
-- reads: covered_times, events, gpu_activities, host_ops, sample_stddev
CREATE OR REPLACE MACRO annotation_stats_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    source VARCHAR := 'gpu',  -- gpu: annotations on streams; host: annotations on threads
    name_contains VARCHAR := NULL  -- only names that contain this; case matters [default: all]
) AS TABLE
WITH RECURSIVE
host_annotations AS (
    SELECT o.job, o.rank, o.event_id, o.annotation_id, o.external_id, o.step, o.name, o.dur_ns
    FROM host_ops AS o
    WHERE o.cat = 'user_annotation'
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
of_gpu AS (
    SELECT e.job, e.rank, e.name, e.dur_ns
    FROM events AS e
    WHERE source = 'gpu'
      AND e.cat = 'gpu_user_annotation'
      AND e.ph = 'X'
      AND (only_jobs IS NULL OR list_contains(only_jobs, e.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, e.rank))
      AND (name_contains IS NULL OR contains(e.name, name_contains))
      AND (
          only_steps IS NULL
          OR EXISTS (
              SELECT 1
              FROM host_annotations AS origin
              WHERE origin.job = e.job
                AND origin.rank = e.rank
                AND origin.external_id = e.external_id
                AND list_contains(only_steps, origin.step)
          )
      )
),
of_host AS (
    SELECT h.job, h.rank, h.event_id, h.name, h.dur_ns
    FROM host_annotations AS h
    WHERE source = 'host'
      AND (only_steps IS NULL OR list_contains(only_steps, h.step))
      AND (name_contains IS NULL OR contains(h.name, name_contains))
),
measured AS (
    SELECT job, rank, name, dur_ns FROM of_gpu
    UNION ALL
    SELECT job, rank, name, dur_ns FROM of_host
),
names AS (
    SELECT
        row_number() OVER (ORDER BY job, rank, name) AS name_id,
        job,
        rank,
        name,
        count(*) AS call_count,
        sum(dur_ns) AS total_ns,
        min(dur_ns) AS min_ns,
        max(dur_ns) AS max_ns,
        sample_stddev(count(*), sum(dur_ns), sum(dur_ns::HUGEINT * dur_ns)) AS stddev_ns
    FROM measured
    GROUP BY job, rank, name
),
-- Each host annotation, once with itself and once with each annotation around it.
around AS (
    SELECT job, rank, event_id, annotation_id AS next_id, event_id AS outer_id
    FROM host_annotations
    WHERE source = 'host'
    UNION ALL
    SELECT a.job, a.rank, a.event_id, h.annotation_id AS next_id, h.event_id AS outer_id
    FROM around AS a
    JOIN host_annotations AS h
        ON h.job = a.job AND h.rank = a.rank AND h.event_id = a.next_id
),
-- One row per name, even if annotations of that name are nested in one another.
names_around AS (
    SELECT DISTINCT a.job, a.rank, a.event_id, names.name_id
    FROM around AS a
    JOIN of_host AS h
        ON h.job = a.job AND h.rank = a.rank AND h.event_id = a.outer_id
    JOIN names
        ON names.job = h.job AND names.rank = h.rank AND names.name IS NOT DISTINCT FROM h.name
),
launched AS (
    SELECT names_around.name_id AS group_id, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    JOIN names_around
        ON names_around.job = a.job
        AND names_around.rank = a.rank
        AND names_around.event_id = a.annotation_id
    WHERE source = 'host'
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
),
stats AS (
    SELECT
        names.job,
        names.rank,
        names.name,
        names.call_count AS count,
        names.total_ns::BIGINT AS total_ns,
        round(names.total_ns / names.call_count)::BIGINT AS mean_ns,
        names.min_ns,
        names.max_ns,
        round(names.stddev_ns)::BIGINT AS stddev_ns,
        CASE WHEN source = 'host' THEN coalesce(busy.covered_ns, 0) END AS gpu_busy_ns
    FROM names
    LEFT JOIN covered_times(launched) AS busy ON busy.group_id = names.name_id
)
SELECT job, rank, name, count, total_ns, mean_ns, min_ns, max_ns, stddev_ns, gpu_busy_ns
FROM (
    FROM stats
    UNION ALL BY NAME
    -- This adds no row. It raises an error if `source` is invalid, even if there is no data.
    SELECT NULL AS job
    WHERE coalesce(source NOT IN ('gpu', 'host'), true)
      AND error(concat(
          'annotation_stats: source is ''gpu'' or ''host'', not ',
          coalesce('''' || source || '''', 'NULL')
      )) IS NULL
)
ORDER BY job, rank, total_ns DESC, name;
