-- What each rank's clock shows, compared with the clock of the reference rank.
CREATE OR REPLACE TEMP TABLE export_clocks AS
SELECT job, rank, local_ns, reference_ns, gain, residual_ns
FROM aligned_clocks(export_members)
