-- One row per call that pairs with a call of a model rank, judged by the order of calls alone. The
-- model rank is the rank with the most calls, see below.
--
-- `calls`: calls to pair by order. Needs lane, rank, event_id, step, start_ns, end_ns, name and
--          signature. Calls that belong together have the same lane and signature
--
-- pairs_v1 defines lanes and signatures. Returns lane, rank, event_id, model_rank and
-- model_event_id. model_rank and model_event_id name the call of the model rank with which the call
-- pairs. The calls of the model rank pair with themselves. A call that pairs with no call of the
-- model rank has no row.
--
-- If each rank of a lane has calls in steps, each step is a segment of the lane, and the calls
-- outside steps are one more segment. Otherwise, the whole lane is one segment. In each segment,
-- the rank with the most calls is the model rank. If several ranks have the most calls, the lowest
-- of them is the model rank. Another rank may lack a single stretch of calls, for example if its
-- recording is cut:
--
--     model   A  B  B  C  A  B  B  C
--     other            C  A  B  B  C     lacks 3: 0 from the front, 5 from the back
--
-- In the drawing, the other rank lacks the first 3 calls of the model. Its 5 calls come after the
-- gap.
--
-- The calls before the gap pair with the model's calls by position from the front. The calls after
-- the gap pair by position from the back. A gap fits if the two calls of each pair have the same
-- signature. If several gaps fit, the ends of the calls decide. A jump is the change from one call
-- to the next in the difference between the call's end and the end of the model's call. Jumps
-- should be small, because clocks may differ but do not jump. So the gap with the least sum of
-- jumps counts.
--
-- If a rank has as many calls as the model, each call pairs with the model's call at its position
-- if their signatures or their names are equal. If no gap of a rank fits, the rank has no pairs in
-- the segment.
--
-- In two cases, pairs by order may be wrong or missing:
--   * A rank lacks several stretches of a segment.
--   * The model lacks calls that another rank has.
-- Only a Comms Id or Seq can pair these calls.
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
-- is_odd is false if all ranks have the same number of calls in the segment, and the calls at each
-- position have the same signature. Then calls pair by position.
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
-- The ranks that lack calls. A rank that lacks no calls pairs by position from the front.
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
-- The jump from the previous call to this call, in three cases:
--   * front_jump_ns: both calls pair from the front
--   * back_jump_ns: both calls pair from the back
--   * cut_jump_ns: the gap is between the two calls
jumps AS (
    SELECT
        *,
        abs(front_apart_ns - lag(front_apart_ns) OVER in_order) AS front_jump_ns,
        abs(back_apart_ns - lag(back_apart_ns) OVER in_order) AS back_jump_ns,
        abs(back_apart_ns - lag(front_apart_ns) OVER in_order) AS cut_jump_ns
    FROM compared
    WINDOW in_order AS (PARTITION BY segment_id, rank ORDER BY position)
),
-- One possible gap per call: the gap is directly before the call. jump_ns is the sum of the jumps
-- before the gap, at the gap and after the gap.
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
        -- True if the gap may be after the last call, so that the rank lacks the model's last
        -- calls.
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
