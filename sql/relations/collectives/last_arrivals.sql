-- One row per collective or message with at least two paired calls: which rank came last, and when
-- the members came. A member comes when its call starts.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `clocks`: rows of aligned_clocks
--
-- Returns job, collective_id, and
--
--     start_ns, end_ns  the first start and the last end on the reference rank's clock, among the
--                       members whose clocks are known
--     last_start_ns     the last start on the reference rank's clock
--     start_skew_ns     time from the first start to the last start
--     end_skew_ns       time from the first end to the last end
--     wait_ns           sum of the calls' waits
--     last_rank         the rank that came last
--
-- For messages, and for collectives that all members leave together, start_skew_ns and last_rank
-- follow from the durations of the calls:
--   * start_skew_ns is the longest duration minus the shortest duration.
--   * last_rank is the rank with the shortest call. If several calls are equally short, turn_of
--     decides.
--
-- For other collectives, start_skew_ns and last_rank follow from the starts on the reference rank's
-- clock. If several ranks started last, last_rank is the lowest of them. If the clock of a member
-- is not known, start_skew_ns and last_rank are NULL.
--
-- For all collectives and messages, last_start_ns and end_skew_ns are NULL if the clock of a member
-- is not known.
--
-- reads: aligned_ns, turn_of
CREATE OR REPLACE MACRO last_arrivals(members, clocks) AS TABLE
WITH
times AS (
    SELECT
        m.job,
        m.collective_id,
        m.rank,
        m.dur_ns,
        m.wait_ns,
        m.ends_together OR m.is_message AS is_synchronous,
        aligned_ns(m.start_ns, c.local_ns, c.reference_ns, c.gain) AS start_ns,
        aligned_ns(m.end_ns, c.local_ns, c.reference_ns, c.gain) AS end_ns
    FROM query_table(members) AS m
    JOIN query_table(clocks) AS c ON c.job = m.job AND c.rank = m.rank
    WHERE m.collective_id IS NOT NULL AND m.member_count > 1
),
totals AS (
    SELECT
        job,
        collective_id,
        bool_and(is_synchronous) AS is_synchronous,
        count(*) = count(start_ns) AS is_aligned,
        min(start_ns) AS start_ns,
        max(start_ns) AS last_start_ns,
        min(end_ns) AS first_end_ns,
        max(end_ns) AS end_ns,
        max(dur_ns) - min(dur_ns) AS spread_ns,
        sum(wait_ns)::BIGINT AS wait_ns,
        min({'dur_ns': dur_ns, 'turn': turn_of(collective_id, rank), 'rank': rank}).rank
            AS shortest_rank,
        min({'start_ns': -start_ns, 'rank': rank}).rank AS latest_rank
    FROM times
    GROUP BY job, collective_id
)
SELECT
    job,
    collective_id,
    start_ns,
    end_ns,
    CASE WHEN is_aligned THEN last_start_ns END AS last_start_ns,
    CASE
        WHEN is_synchronous THEN spread_ns
        WHEN is_aligned THEN last_start_ns - start_ns
    END AS start_skew_ns,
    CASE WHEN is_aligned THEN end_ns - first_end_ns END AS end_skew_ns,
    wait_ns,
    CASE
        WHEN is_synchronous THEN shortest_rank
        WHEN is_aligned THEN latest_rank
    END AS last_rank
FROM totals;
