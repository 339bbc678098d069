-- One row per rank whose clock collectives show: how it differs from the reference rank's clock, as
-- in aligned_clocks.
CREATE OR REPLACE TEMP TABLE job_clocks AS
FROM aligned_clocks(job_members);
