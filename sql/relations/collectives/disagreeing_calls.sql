-- One row per member of a collective and kind of disagreement: the member's name, data type or size
-- differs from the most frequent value among the members.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `placed`: rows of placed_collectives
--
-- For messages, only data types are compared. Returns job, lane, rank, reason, place, collective_id
-- and detail. lane and place are as in placed_collectives. reason is other_name, other_dtype or
-- other_size. If several values are equally frequent, the alphabetically first one counts as the
-- most frequent value.
CREATE OR REPLACE MACRO disagreeing_calls(members, placed) AS TABLE
WITH
disagreeing AS MATERIALIZED (
    SELECT
        p.job,
        p.lane,
        p.place,
        p.collective_id,
        p.has_names,
        p.has_dtypes,
        p.has_sizes,
        m.rank,
        m.name,
        coalesce(m.dtype, 'none') AS dtype,
        coalesce(m.in_nelems::VARCHAR, 'none') || ' in, '
            || coalesce(m.out_nelems::VARCHAR, 'none') || ' out' AS size
    FROM query_table(members) AS m
    JOIN query_table(placed) AS p ON p.job = m.job AND p.collective_id = m.collective_id
    WHERE p.has_names OR p.has_dtypes OR p.has_sizes
)
SELECT job, lane, rank, reason, place, collective_id, said || ' instead of ' || usual AS detail
FROM (
    SELECT
        *,
        mode(said ORDER BY said) OVER (PARTITION BY job, collective_id, reason) AS usual
    FROM (
        SELECT *, 'other_name' AS reason, name AS said FROM disagreeing WHERE has_names
        UNION ALL
        SELECT *, 'other_dtype' AS reason, dtype AS said FROM disagreeing WHERE has_dtypes
        UNION ALL
        SELECT *, 'other_size' AS reason, size AS said FROM disagreeing WHERE has_sizes
    )
)
WHERE said <> usual;
