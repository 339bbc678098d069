-- The events under operators with a name: calls inside them, and the GPU activities launched there.
--
-- `of_name` is the name of a host operation: an operator, annotation, Python function, or runtime
-- or driver call. In it, % stands for any text, such as '%attention%'. All other characters stand
-- for themselves, and case matters. Here, all these host operations are called operators.
--
-- An event is under an operator if one of these holds:
--
--   * It is the operator itself.
--   * It is on the operator's thread, begins in the operator, and ends no later.
--   * It is on an autograd thread, and an annotation that is the operator or is inside it called
--     that work (caller_id in host_ops). So the backward pass is under `## backward ##`.
--   * It is a GPU activity, and its launch is under the operator. In the replay of a CUDA graph,
--     the launch is that of the graph, or the one that was recorded into the graph.
--
-- In this drawing, `of_name` is 'attn':
--
--     main  1 [= step ===================================)
--           2   [= attn ===========)
--           3     [= attn =)                   under_id 2
--           4       [launch)                   under_id 2
--           5                        [launch)  no row
--     GPU   6                   [= gemm ==)    under_id 2: 4 launched it
--
-- A span contains its start, and not its end. A span of no duration is inside a span that begins at
-- its instant, and not inside one that ends there. Of spans with the same start and end, the one
-- with the lower event_id is around the other.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: host_ops
-- returns:
--   job       VARCHAR  -   run of a program
--   rank      INTEGER  -   rank of the process
--   event_id  BIGINT   -   the event, in host_ops or gpu_activities
--   under_id  BIGINT   -   event_id of the outermost operator with the name that the event is
--                          under; below 0: replayed, in host_calls
--   cat       VARCHAR  -   category of the event
--   name      VARCHAR  -   name of the event
--   step      BIGINT   -   step of the event; NULL outside steps
--   start_ns  BIGINT   ns  start
--   dur_ns    BIGINT   ns  duration
-- check: dur_ns >= 0
-- reads: captured_id_of, captured_in, event_id_of_span, gpu_activities, host_ops, named_spans,
--   rank_number_of_span, span_number, traces
CREATE OR REPLACE MACRO under_operator_v1(
    of_name VARCHAR,  -- name of the operators; % stands for any text
    only_jobs VARCHAR[] := NULL,  -- jobs to search [default: all]
    only_ranks INTEGER[] := NULL  -- ranks to search [default: all]
) AS TABLE
WITH
-- Integers stand for threads and spans, since all spans are sorted.
ranks AS MATERIALIZED (
    SELECT t.job, t.rank, row_number() OVER () AS rank_number
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, t.rank))
),
all_spans AS (
    SELECT
        span_number(r.rank_number, h.event_id) AS span,
        span_number(r.rank_number, h.root_id) AS root_span,
        -- Of the outermost span on its thread.
        CASE WHEN h.event_id = h.root_id THEN span_number(r.rank_number, h.caller_id) END
            AS caller_span,
        hash(r.rank_number, h.pid, h.tid) AS thread,
        h.start_ns,
        h.end_ns,
        h.until_ns,
        h.is_named
    FROM named_spans(of_name, only_jobs, only_ranks) AS h
    JOIN ranks AS r ON r.job = h.job AND r.rank = h.rank
),
reached AS (
    SELECT
        *,
        max(CASE WHEN is_named THEN end_ns END) OVER before AS named_end_ns,
        max(CASE WHEN is_named THEN until_ns END) OVER before AS named_until_ns
    FROM all_spans
    WINDOW before AS (
        PARTITION BY thread
        ORDER BY start_ns, end_ns DESC, span
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
nested AS (
    SELECT
        span,
        root_span,
        caller_span,
        thread,
        start_ns,
        end_ns,
        is_named,
        coalesce(named_end_ns >= end_ns AND named_until_ns > start_ns, false) AS is_inside
    FROM reached
),
-- Of the outermost operators of a thread, a later one also ends later. So if any of them is around
-- a span, the last one to begin is.
on_threads AS MATERIALIZED (
    SELECT
        span,
        root_span,
        caller_span,
        CASE
            WHEN is_named OR is_inside
            THEN last_value(CASE WHEN is_named AND NOT is_inside THEN span END IGNORE NULLS)
                OVER so_far
        END AS under_span
    FROM nested
    WINDOW so_far AS (
        PARTITION BY thread
        ORDER BY start_ns, end_ns DESC, span
        ROWS UNBOUNDED PRECEDING
    )
),
across_threads AS (
    SELECT root.span AS root_span, caller.under_span
    FROM on_threads AS root
    JOIN on_threads AS caller ON caller.span = root.caller_span
    WHERE caller.under_span IS NOT NULL
),
under AS (
    SELECT o.span, coalesce(a.under_span, o.under_span) AS under_span
    FROM on_threads AS o
    LEFT JOIN across_threads AS a ON a.root_span = o.root_span
    WHERE o.under_span IS NOT NULL OR a.under_span IS NOT NULL
),
spans_under AS MATERIALIZED (
    SELECT
        r.job,
        r.rank,
        event_id_of_span(u.span) AS event_id,
        event_id_of_span(u.under_span) AS under_id
    FROM under AS u
    JOIN ranks AS r ON r.rank_number = rank_number_of_span(u.span)
),
spans AS (
    SELECT
        h.job, h.rank, h.event_id, u.under_id, h.cat, h.name, h.step, h.start_ns, h.dur_ns
    FROM host_ops AS h
    JOIN spans_under AS u ON u.job = h.job AND u.rank = h.rank AND u.event_id = h.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
),
captured AS (
    FROM captured_in(of_name, only_jobs, only_ranks)
),
activities AS (
    SELECT
        a.job, a.rank, a.event_id,
        -- In one replay, ids of replayed operations differ as their captured_ids do.
        coalesce(
            u.under_id, a.recorded_id - captured.captured_id + captured.outermost_id
        ) AS under_id,
        a.cat, a.name, a.step, a.start_ns, a.dur_ns
    FROM gpu_activities AS a
    LEFT JOIN spans_under AS u
        ON u.job = a.job AND u.rank = a.rank AND u.event_id = a.launch_id
    LEFT JOIN captured
        ON captured.job = a.job
        AND captured.rank = a.rank
        AND captured.captured_id = captured_id_of(a.recorded_id)
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
)
FROM spans
UNION ALL
FROM activities
WHERE under_id IS NOT NULL
ORDER BY job, rank, event_id;
