-- The ranks of the job, and by how much each is moved.
--
-- Whole and rigidly, so that what a rank measured stays exact: by what its clock is off in the
-- middle of what is exported of it. What the clock drifts until the ends of that is drift_ns.
--
-- Variables: export_ranks, the chosen ones; export_window_from_ns and export_window_until_ns on the
-- reference rank's clock, NULL where no window is meant.
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
        -- The other way round of aligned_ns.
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
