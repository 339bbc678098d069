-- Which calls belong together, from their order alone.
--
-- `calls` needs lane, rank, event_id, step, start_ns, end_ns, name and signature. Calls that belong
-- together have the same signature. One rank is the model. Returns lane, rank, event_id, and the
-- model's call to which the call belongs: model_rank and model_event_id. Calls without one are left
-- out.
--
-- If all ranks have steps, steps cut a lane into segments. In each segment, the rank with most
-- calls is the model. Another rank may lack a single stretch of calls, for example if its window is
-- cut:
--
--     model   A  B  B  C  A  B  B  C
--     other            C  A  B  B  C     lacks 3: 0 from the front, 5 from the back
--
-- The calls before the gap pair with the model's by position from the front, the others by position
-- from the back. If several gaps fit, the one counts for which the ends of calls differ most
-- steadily from the model's: clocks may differ, but do not jump. If a rank has as many calls as the
-- model but some do not fit, these still pair with the model's if their names are equal. A rank
-- that fits in no way has no pairs. If several ranks lack several stretches of one segment, pairs
-- by order may be wrong. Only ids can pair these calls.
CREATE OR REPLACE MACRO order_pairs(calls) AS TABLE
WITH
lanes AS MATERIALIZED (
    SELECT
        lane,
        count(DISTINCT rank) = count(DISTINCT rank) FILTER (step IS NOT NULL) AS has_steps
    FROM query_table(calls)
    GROUP BY lane
),
in_segments AS MATERIALIZED (
    SELECT
        c.lane,
        CASE WHEN lanes.has_steps THEN coalesce(c.step, -1) ELSE -1 END AS segment,
        c.rank,
        c.event_id,
        c.start_ns,
        c.end_ns,
        c.name,
        c.signature
    FROM query_table(calls) AS c
    JOIN lanes ON lanes.lane = c.lane
),
positions AS MATERIALIZED (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY lane, segment, rank ORDER BY start_ns, event_id
        ) - 1 AS position
    FROM in_segments
),
places AS MATERIALIZED (
    SELECT
        lane,
        segment,
        position,
        min(rank) AS first_rank,
        arg_min(event_id, rank) AS first_event_id,
        count(*) AS rank_count,
        min(signature) <> max(signature) AS differs
    FROM positions
    GROUP BY lane, segment, position
),
-- Segments in which all ranks have the same number of calls, which look the same, need no more than
-- the order.
segments AS MATERIALIZED (
    SELECT
        row_number() OVER () AS segment_id,
        lane,
        segment,
        bool_or(differs) OR min(rank_count) <> max(rank_count) AS is_odd
    FROM places
    GROUP BY lane, segment
),
even_places AS MATERIALIZED (
    SELECT p.lane, p.segment, p.position, p.first_rank, p.first_event_id
    FROM places AS p
    JOIN segments AS s ON s.lane = p.lane AND s.segment = p.segment
    WHERE NOT s.is_odd
),
odd_calls AS MATERIALIZED (
    SELECT s.segment_id, p.*
    FROM positions AS p
    JOIN segments AS s ON s.lane = p.lane AND s.segment = p.segment
    WHERE s.is_odd
),
call_counts AS (
    SELECT segment_id, rank, count(*) AS call_count
    FROM odd_calls
    GROUP BY segment_id, rank
),
models AS MATERIALIZED (
    SELECT
        segment_id,
        max(call_count) AS model_count,
        arg_max(rank, {'calls': call_count, 'first': -rank}) AS model_rank
    FROM call_counts
    GROUP BY segment_id
),
counted AS MATERIALIZED (
    SELECT n.segment_id, n.rank, n.call_count, m.model_rank, m.model_count - n.call_count AS lacking
    FROM call_counts AS n
    JOIN models AS m ON m.segment_id = n.segment_id
),
with_counts AS MATERIALIZED (
    SELECT o.*, n.call_count, n.model_rank, n.lacking, o.position + n.lacking AS back_position
    FROM odd_calls AS o
    JOIN counted AS n ON n.segment_id = o.segment_id AND n.rank = o.rank
),
model_calls AS MATERIALIZED (
    SELECT segment_id, position, event_id, end_ns, name, signature
    FROM with_counts
    WHERE rank = model_rank
),
with_fronts AS MATERIALIZED (
    SELECT
        c.*,
        f.event_id AS front_id,
        f.signature = c.signature AS fits_front,
        f.name = c.name AS is_namesake,
        c.end_ns - f.end_ns AS front_apart_ns
    FROM with_counts AS c
    JOIN model_calls AS f ON f.segment_id = c.segment_id AND f.position = c.position
),
-- A rank that lacks no calls can fit in only one way.
compared AS MATERIALIZED (
    SELECT
        c.*,
        b.event_id AS back_id,
        b.signature = c.signature AS fits_back,
        c.end_ns - b.end_ns AS back_apart_ns
    FROM with_fronts AS c
    JOIN model_calls AS b ON b.segment_id = c.segment_id AND b.position = c.back_position
    WHERE c.lacking > 0
),
-- How much the clocks would jump from each call to the next one.
jumps AS (
    SELECT
        *,
        abs(front_apart_ns - lag(front_apart_ns) OVER in_order) AS front_jump_ns,
        abs(back_apart_ns - lag(back_apart_ns) OVER in_order) AS back_jump_ns,
        abs(back_apart_ns - lag(front_apart_ns) OVER in_order) AS cut_jump_ns
    FROM compared
    WINDOW in_order AS (PARTITION BY segment_id, rank ORDER BY position)
),
-- The cut is before `position`. Its cost is the sum of the jumps before it, at it and after it.
cuts AS MATERIALIZED (
    SELECT
        *,
        coalesce(sum(front_jump_ns) OVER before_it, 0)
            + coalesce(cut_jump_ns, 0)
            + coalesce(sum(back_jump_ns) OVER behind_it, 0) AS jump_ns,
        min(position) FILTER (NOT fits_front) OVER all_of_it AS misfit_in_front,
        max(position) FILTER (NOT fits_back) OVER all_of_it AS misfit_at_back
    FROM jumps
    WINDOW
        before_it AS (
            PARTITION BY segment_id, rank ORDER BY position
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        behind_it AS (
            PARTITION BY segment_id, rank ORDER BY position
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ),
        all_of_it AS (PARTITION BY segment_id, rank)
),
best_cuts AS (
    SELECT
        segment_id,
        rank,
        arg_min(position, {'jump_ns': jump_ns, 'position': position}) FILTER (
            position <= coalesce(misfit_in_front, call_count)
            AND position > coalesce(misfit_at_back, -1)
        ) AS cut_at,
        -- The cut may be after the last call: the model then has more calls only at its end.
        any_value(misfit_in_front) IS NULL AS may_lack_the_end,
        min(jump_ns) FILTER (
            position <= coalesce(misfit_in_front, call_count)
            AND position > coalesce(misfit_at_back, -1)
        ) AS jump_ns,
        coalesce(sum(front_jump_ns), 0) AS end_jump_ns
    FROM cuts
    GROUP BY segment_id, rank
)
SELECT p.lane, p.rank, p.event_id, e.first_rank AS model_rank, e.first_event_id AS model_event_id
FROM positions AS p
JOIN even_places AS e
    ON e.lane = p.lane AND e.segment = p.segment AND e.position = p.position
UNION ALL
SELECT lane, rank, event_id, model_rank, front_id AS model_event_id
FROM with_fronts
WHERE lacking = 0 AND (fits_front OR is_namesake)
UNION ALL
SELECT
    c.lane,
    c.rank,
    c.event_id,
    c.model_rank,
    CASE
        WHEN b.may_lack_the_end AND (b.cut_at IS NULL OR b.end_jump_ns < b.jump_ns)
        THEN c.front_id
        WHEN c.position < b.cut_at
        THEN c.front_id
        ELSE c.back_id
    END AS model_event_id
FROM cuts AS c
JOIN best_cuts AS b ON b.segment_id = c.segment_id AND b.rank = c.rank
WHERE b.cut_at IS NOT NULL OR b.may_lack_the_end;
