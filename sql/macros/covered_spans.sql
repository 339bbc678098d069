-- How much of each span the intervals of its device cover.
--
-- `spans` needs job, rank, device, span_id, start_ns and end_ns, `intervals` job, rank, device,
-- start_ns and end_ns; gives one row for each span: span_id and covered_ns.
--
-- It is what is covered until the span's end less what is until its start; covered_until draws how
-- that is found. Here the devices are laid end to end on one axis of time, as in busy_times, each
-- from its first span to its last.
CREATE OR REPLACE MACRO covered_spans(spans, intervals) AS TABLE
WITH
extents AS (
    SELECT job, rank, device, min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM query_table(spans)
    GROUP BY job, rank, device
),
shifts AS (
    SELECT
        *,
        (sum(last_ns - first_ns) OVER in_order - (last_ns - first_ns))::BIGINT - first_ns
            AS shift_ns
    FROM extents
    WINDOW in_order AS (ORDER BY job, rank, device ROWS UNBOUNDED PRECEDING)
),
spans_on_axis AS (
    SELECT s.span_id, s.start_ns + shifts.shift_ns AS start_ns, s.end_ns + shifts.shift_ns AS end_ns
    FROM query_table(spans) AS s
    JOIN shifts
        ON shifts.job = s.job AND shifts.rank = s.rank
        AND shifts.device IS NOT DISTINCT FROM s.device
),
moments AS (
    SELECT
        greatest(i.start_ns, shifts.first_ns) + shifts.shift_ns AS at_ns,
        least(i.end_ns, shifts.last_ns) + shifts.shift_ns AS end_ns,
        NULL::BIGINT AS span_id,
        NULL::BOOLEAN AS is_end
    FROM query_table(intervals) AS i
    JOIN shifts
        ON shifts.job = i.job AND shifts.rank = i.rank
        AND shifts.device IS NOT DISTINCT FROM i.device
    WHERE greatest(i.start_ns, shifts.first_ns) < least(i.end_ns, shifts.last_ns)
    UNION ALL
    SELECT start_ns AS at_ns, NULL AS end_ns, span_id, false AS is_end FROM spans_on_axis
    UNION ALL
    SELECT end_ns AS at_ns, NULL AS end_ns, span_id, true AS is_end FROM spans_on_axis
),
reached AS (
    SELECT
        *,
        max(end_ns) OVER (
            ORDER BY at_ns, end_ns NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS until_ns
    FROM moments
),
-- Moments stand before intervals that begin at the same instant, in both windows.
covered AS (
    SELECT
        span_id,
        is_end,
        -- greatest passes over NULL: over the first one's until_ns, and a moment's end_ns.
        sum(greatest(0, end_ns - greatest(at_ns, until_ns))) OVER (
            ORDER BY at_ns, end_ns NULLS FIRST ROWS UNBOUNDED PRECEDING
        ) - greatest(0, until_ns - at_ns) AS covered_ns
    FROM reached
)
SELECT
    span_id,
    sum(CASE WHEN is_end THEN covered_ns ELSE -covered_ns END)::BIGINT AS covered_ns
FROM covered
WHERE span_id IS NOT NULL
GROUP BY span_id;
