-- get_comm_comp_overlap: one row per rank. The devices of a rank count together.
SELECT
    r.rank,
    hta_rounded(100 * sum(o.overlap_ns) / nullif(sum(o.communication_ns), 0), 2)
        AS comp_comm_overlap_pctg
FROM hta_ranks AS r
LEFT JOIN comm_comp_overlap_v1() AS o ON o.rank = r.rank
GROUP BY r.rank
ORDER BY r.rank
