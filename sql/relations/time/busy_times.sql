-- One row per job, rank, device and step: the busy time of each kind and of each union of kinds.
--
-- `activities` needs job, rank, device, step, kind, start_ns and end_ns. For whole devices, pass a
-- NULL step. For whole ranks, pass a NULL device, too.
--
-- To compute the length of a union, the macro takes the intervals in order of start. An interval
-- adds only its part after the latest end of all earlier intervals.
--
--     a  [=======)                  adds 8
--     b      [========)             adds 5, its part past a
--     c        [==)                 adds 0, it lies inside b
--     d                    [====)   adds 5, nothing reaches it
--
-- The drawing shows how much each interval adds to the union. Together they add 18.
--
-- The macro computes the latest end per kind. The latest end of a union is the maximum over its
-- kinds. One sort and three running maxima therefore give all seven unions. Overlaps follow by
-- inclusion and exclusion: |X ∩ Y| = |X| + |Y| - |X ∪ Y| and |X ∖ Y| = |X ∪ Y| - |Y|.
--
-- A group has the activities of one job, rank, device and step. The macro lays the groups end to
-- end on one axis of time, so that no maximum reaches from one group into the next. A window with
-- PARTITION BY takes twice as long if there are many groups.
CREATE OR REPLACE MACRO busy_times(activities) AS TABLE
WITH
picked AS (
    SELECT job, rank, device, step, kind, start_ns, end_ns
    FROM query_table(activities)
),
spans AS (
    SELECT
        job,
        rank,
        device,
        step,
        count(*) AS activity_count,
        min(start_ns) AS first_start_ns,
        max(end_ns) - min(start_ns) AS span_ns
    FROM picked
    GROUP BY job, rank, device, step
),
groups AS (
    SELECT
        row_number() OVER in_order AS group_number,
        job,
        rank,
        device,
        step,
        activity_count,
        span_ns,
        (sum(span_ns) OVER in_order - span_ns)::BIGINT - first_start_ns AS shift_ns
    FROM spans
    WINDOW in_order AS (ORDER BY job, rank, device, step ROWS UNBOUNDED PRECEDING)
),
on_one_axis AS (
    SELECT
        groups.group_number,
        a.kind = 'computation' AS is_computation,
        a.kind = 'communication' AS is_communication,
        a.kind = 'memory' AS is_memory,
        a.start_ns + groups.shift_ns AS start_ns,
        a.end_ns + groups.shift_ns AS end_ns
    FROM picked AS a
    JOIN groups
        ON a.job = groups.job
        AND a.rank = groups.rank
        AND a.device IS NOT DISTINCT FROM groups.device
        AND a.step IS NOT DISTINCT FROM groups.step
),
reached AS (
    SELECT
        *,
        max(end_ns) FILTER (is_computation) OVER before_it AS computation_until_ns,
        max(end_ns) FILTER (is_communication) OVER before_it AS communication_until_ns,
        max(end_ns) FILTER (is_memory) OVER before_it AS memory_until_ns
    FROM on_one_axis
    WINDOW before_it AS (
        ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
-- For each kind, the length of the activity's part after the kind's latest end. The length is
-- negative if the latest end is after the activity's end. greatest and least skip NULL. For a
-- union, the length is the least of the lengths of its kinds.
past AS (
    SELECT
        group_number,
        is_computation,
        is_communication,
        is_memory,
        end_ns - greatest(start_ns, computation_until_ns) AS computation_ns,
        end_ns - greatest(start_ns, communication_until_ns) AS communication_ns,
        end_ns - greatest(start_ns, memory_until_ns) AS memory_ns
    FROM reached
),
lengths AS (
    SELECT
        group_number,
        sum(greatest(0, computation_ns)) FILTER (is_computation) AS computation_ns,
        sum(greatest(0, communication_ns)) FILTER (is_communication) AS communication_ns,
        sum(greatest(0, memory_ns)) FILTER (is_memory) AS memory_ns,
        sum(greatest(0, least(computation_ns, communication_ns))) FILTER (NOT is_memory)
            AS computation_or_communication_ns,
        sum(greatest(0, least(computation_ns, memory_ns))) FILTER (NOT is_communication)
            AS computation_or_memory_ns,
        sum(greatest(0, least(communication_ns, memory_ns))) FILTER (NOT is_computation)
            AS communication_or_memory_ns,
        sum(greatest(0, least(computation_ns, communication_ns, memory_ns))) AS busy_ns
    FROM past
    GROUP BY group_number
)
SELECT
    groups.job,
    groups.rank,
    groups.device,
    groups.step,
    groups.activity_count,
    groups.span_ns,
    lengths.busy_ns::BIGINT AS busy_ns,
    coalesce(lengths.computation_ns, 0)::BIGINT AS computation_ns,
    coalesce(lengths.communication_ns, 0)::BIGINT AS communication_ns,
    coalesce(lengths.memory_ns, 0)::BIGINT AS memory_ns,
    coalesce(lengths.computation_or_communication_ns, 0)::BIGINT
        AS computation_or_communication_ns,
    coalesce(lengths.computation_or_memory_ns, 0)::BIGINT AS computation_or_memory_ns,
    coalesce(lengths.communication_or_memory_ns, 0)::BIGINT AS communication_or_memory_ns
FROM lengths
JOIN groups ON groups.group_number = lengths.group_number;
