-- One row per rank, as in aligned_clocks, computed from all collectives of the rank's job.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- reads: aligned_clocks, paired_members
CREATE OR REPLACE MACRO rank_clocks(jobs) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(jobs)
)
FROM aligned_clocks(members);
