-- One row per rank: its clock compared with the reference rank's clock, as in aligned_clocks.
CREATE OR REPLACE TEMP TABLE export_clocks AS
SELECT job, rank, local_ns, reference_ns, gain, residual_ns
FROM aligned_clocks(export_members)
