-- What the launching thread had open during each part of an idle time: one row per part and
-- innermost span.
--
-- `parts`: rows of device_idle.
-- `only_jobs`, `only_ranks`: the jobs and ranks in `parts`; only their spans are read (NULL: all).
--
-- Returns part_number, and
--
--     host_event_id   innermost span that is open on the thread; NULL: none
--     outer_event_id  outermost span that is open there and not a framing span; NULL: none
--     is_loading      whether the thread is inside the next batch of a data loader
--     first_ns        start of the first piece of the part with this innermost span
--     segment_ns      duration of all pieces of the part with this innermost span
--
-- The durations of a part add up to part_ns. An innermost span has one outer_event_id and one
-- is_loading.
--
-- Each span changes the innermost span twice: at its start from its caller to itself, and at its
-- end back. A change is the difference of the two ids, with -1 for no span. So the sum of all
-- changes until a moment is the id of the innermost span. The same holds for the outermost span,
-- the number of the part, and the count of loader spans. The order of changes at one moment does
-- not matter, because a piece begins after all of them.
--
-- reads: framing_spans, host_ops, is_loader_span
CREATE OR REPLACE MACRO idle_segments(parts, only_jobs, only_ranks) AS TABLE
WITH
asked AS NOT MATERIALIZED (
    SELECT
        part_number,
        job,
        rank,
        device,
        launch_id IS NOT NULL AS is_launched,
        launch_pid,
        launch_tid,
        part_start_ns,
        part_ns
    FROM query_table(parts)
),
-- A lane is a device and a thread that launches for it. The parts of a lane do not overlap. As in
-- busy_times, the lanes lie end to end on one axis of time.
lanes AS MATERIALIZED (
    SELECT *, (sum(last_ns - first_ns) OVER in_order - last_ns)::BIGINT AS shift_ns
    FROM (
        SELECT
            job,
            rank,
            device,
            is_launched,
            launch_pid,
            launch_tid,
            min(part_start_ns) AS first_ns,
            max(part_start_ns + part_ns) AS last_ns,
            sum(part_ns) > 600_000_000_000 AS is_long_lane
        FROM asked
        GROUP BY ALL
    )
    WINDOW in_order AS (
        ORDER BY job, rank, device, is_launched, launch_pid, launch_tid ROWS UNBOUNDED PRECEDING
    )
),
parts_on_axis AS MATERIALIZED (
    SELECT
        asked.part_number,
        asked.part_start_ns + lanes.shift_ns AS from_ns,
        asked.part_ns,
        lanes.shift_ns,
        lanes.is_long_lane
    FROM asked
    JOIN lanes
        ON lanes.job = asked.job
        AND lanes.rank = asked.rank
        AND lanes.device IS NOT DISTINCT FROM asked.device
        AND lanes.is_launched = asked.is_launched
        AND lanes.launch_pid IS NOT DISTINCT FROM asked.launch_pid
        AND lanes.launch_tid IS NOT DISTINCT FROM asked.launch_tid
),
spans_on_axis AS (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        h.parent_id,
        greatest(h.start_ns, lanes.first_ns) + lanes.shift_ns AS from_ns,
        least(coalesce(h.cut_ns, h.end_ns), lanes.last_ns) + lanes.shift_ns AS until_ns,
        lanes.is_long_lane,
        h.cat,
        h.name
    FROM host_ops AS h
    JOIN lanes
        ON lanes.job = h.job
        AND lanes.rank = h.rank
        AND lanes.launch_pid IS NOT DISTINCT FROM h.pid
        AND lanes.launch_tid IS NOT DISTINCT FROM h.tid
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
      AND lanes.is_launched
),
-- Most spans are short and far from any part. A span is left out if it lies within one stretch of
-- 2^16 ns, and no part is in this stretch. Long parts have stretches of 2^20 ns, so that they have
-- few. If a span stays, all its callers stay. All spans of a lane stay if its parts are over ten
-- minutes, since they would have too many stretches.
stretches AS MATERIALIZED (
    SELECT DISTINCT
        length_ns,
        unnest(range(from_ns // length_ns, (from_ns + part_ns - 1) // length_ns + 1)) AS stretch
    FROM (
        SELECT *, CASE WHEN part_ns < 1_048_576 THEN 65_536 ELSE 1_048_576 END AS length_ns
        FROM parts_on_axis
        WHERE NOT is_long_lane
    )
),
near_parts AS (
    SELECT s.*
    FROM spans_on_axis AS s
    LEFT JOIN stretches AS short
        ON short.length_ns = 65_536 AND short.stretch = s.from_ns // 65_536
    LEFT JOIN stretches AS long
        ON long.length_ns = 1_048_576 AND long.stretch = s.from_ns // 1_048_576
    -- A CASE, because DuckDB would move a plain comparison into the join with lanes.
    WHERE CASE
        WHEN s.from_ns < s.until_ns
        THEN s.is_long_lane
            OR short.stretch IS NOT NULL
            OR long.stretch IS NOT NULL
            OR s.from_ns // 65_536 < (s.until_ns - 1) // 65_536
    END
),
framing AS MATERIALIZED (
    FROM framing_spans(only_jobs, only_ranks)
),
spans AS MATERIALIZED (
    SELECT
        s.from_ns,
        s.until_ns,
        s.event_id - coalesce(s.parent_id, -1) AS innermost,
        CASE
            WHEN itself.event_id IS NULL AND (s.parent_id IS NULL OR caller.event_id IS NOT NULL)
            THEN s.event_id + 1
            ELSE 0
        END AS outermost,
        is_loader_span(s.cat, s.name)::BIGINT AS loading
    FROM near_parts AS s
    LEFT JOIN framing AS itself
        ON itself.job = s.job AND itself.rank = s.rank AND itself.event_id = s.event_id
    LEFT JOIN framing AS caller
        ON caller.job = s.job AND caller.rank = s.rank AND caller.event_id = s.parent_id
),
-- Few spans are outermost or of a loader. They divide the parts into sections. Then all spans
-- divide the sections into pieces. This takes half the time of one division with four sums.
section_moments AS (
    SELECT from_ns AS at_ns, 0 AS part, outermost, loading
    FROM spans
    WHERE outermost > 0 OR loading > 0
    UNION ALL
    SELECT until_ns, 0, -outermost, -loading
    FROM spans
    WHERE outermost > 0 OR loading > 0
    UNION ALL
    SELECT from_ns, part_number, 0, 0
    FROM parts_on_axis
    UNION ALL
    SELECT from_ns + part_ns, -part_number, 0, 0
    FROM parts_on_axis
),
sections AS MATERIALIZED (
    SELECT
        row_number() OVER () AS section,
        p.part_number,
        nullif(s.outermost - 1, -1)::BIGINT AS outer_event_id,
        s.loading > 0 AS is_loading,
        s.from_ns,
        s.until_ns,
        p.shift_ns
    FROM (
        SELECT
            at_ns AS from_ns,
            lead(at_ns) OVER in_order AS until_ns,
            sum(part) OVER in_order AS part_number,
            sum(outermost) OVER in_order AS outermost,
            sum(loading) OVER in_order AS loading
        FROM section_moments
        WINDOW in_order AS (ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
    ) AS s
    JOIN parts_on_axis AS p ON p.part_number = s.part_number::BIGINT
    WHERE s.part_number > 0 AND s.until_ns > s.from_ns
),
moments AS (
    SELECT from_ns AS at_ns, 0 AS section, innermost FROM spans
    UNION ALL
    SELECT until_ns, 0, -innermost FROM spans
    UNION ALL
    SELECT from_ns, section, 0 FROM sections
    UNION ALL
    SELECT until_ns, -section, 0 FROM sections
),
pieces AS (
    SELECT
        at_ns,
        lead(at_ns) OVER in_order - at_ns AS piece_ns,
        sum(section) OVER in_order AS section,
        sum(innermost) OVER in_order AS innermost
    FROM moments
    WINDOW in_order AS (ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
)
SELECT
    sections.part_number,
    nullif(pieces.innermost::BIGINT - 1, -1) AS host_event_id,
    any_value(sections.outer_event_id) AS outer_event_id,
    any_value(sections.is_loading) AS is_loading,
    min(pieces.at_ns - sections.shift_ns) AS first_ns,
    sum(pieces.piece_ns)::BIGINT AS segment_ns
FROM pieces
JOIN sections ON sections.section = pieces.section::BIGINT
WHERE pieces.piece_ns > 0
GROUP BY sections.part_number, pieces.innermost::BIGINT;
