-- Each rank's clock, from all collectives of its job: the rows of aligned_clocks.
--
-- `jobs`: the jobs to look at (NULL: all).
--
-- reads: aligned_clocks, paired_members
CREATE OR REPLACE MACRO rank_clocks(jobs) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(jobs)
)
FROM aligned_clocks(members);
