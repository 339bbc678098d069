-- What each rank's clock shows, against the reference rank's.
CREATE OR REPLACE TEMP TABLE export_clocks AS
SELECT job, rank, local_ns, reference_ns, gain, residual_ns
FROM aligned_clocks(export_members)
