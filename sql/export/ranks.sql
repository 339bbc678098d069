-- One row per rank of the job: how far the rank's time stamps are moved (shift_ns).
--
-- All time stamps of a rank are moved by the same amount, so that all times within the rank stay
-- exact. This amount is the offset of the rank's clock in the middle of the rank's exported time.
-- If only one rank is exported, the amount is 0. drift_ns is how far the clock drifts between the
-- middle and either end of the rank's exported time.
--
-- Variables:
--   * export_ranks: the chosen ranks
--   * export_window_from_ns, export_window_until_ns: the window on the reference rank's clock
--     (NULL: no window)
CREATE OR REPLACE TEMP TABLE export_ranks AS
WITH
of_step AS (
    SELECT rank, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM export_spans
    GROUP BY rank
),
traced AS (
    SELECT
        t.rank,
        list_contains(getvariable('export_ranks'), t.rank) AS is_chosen,
        c.local_ns,
        c.reference_ns,
        coalesce(c.gain, 0) AS gain,
        c.residual_ns,
        coalesce(s.start_ns, t.start_ns) AS start_ns,
        coalesce(s.end_ns, t.end_ns) AS end_ns,
        -- For the inverse of aligned_ns.
        coalesce(c.local_ns, 0) AS to_local_ns,
        coalesce(c.reference_ns, 0) AS to_reference_ns
    FROM traces AS t
    LEFT JOIN export_clocks AS c ON c.rank = t.rank
    LEFT JOIN of_step AS s ON s.rank = t.rank
    WHERE t.job = getvariable('export_job')
),
cut AS (
    SELECT
        *,
        greatest(
            start_ns,
            to_local_ns
                + ((getvariable('export_window_from_ns') - to_reference_ns) / (1 - gain))::BIGINT
        ) AS from_ns,
        least(
            end_ns,
            to_local_ns
                + ((getvariable('export_window_until_ns') - to_reference_ns) / (1 - gain))::BIGINT
        ) AS until_ns,
        from_ns + (until_ns - from_ns) // 2 AS middle_ns,
        coalesce(aligned_ns(middle_ns, local_ns, reference_ns, gain) - middle_ns, 0)
            AS to_aligned_ns
    FROM traced
)
SELECT
    rank,
    is_chosen,
    local_ns,
    reference_ns,
    gain,
    residual_ns,
    from_ns,
    until_ns,
    to_aligned_ns,
    CASE WHEN len(getvariable('export_ranks')) > 1 THEN to_aligned_ns ELSE 0 END AS shift_ns,
    1e6 * gain / (1 - gain) AS drift_ppm,
    abs(gain * (until_ns - from_ns) / 2)::BIGINT AS drift_ns
FROM cut
