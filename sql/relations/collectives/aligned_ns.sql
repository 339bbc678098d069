-- Converts an instant of a rank's clock to the clock of its reference rank.
--
-- `at_ns`: the instant on the rank's clock
-- `local_ns`, `reference_ns`, `gain`: the rank's row of aligned_clocks
CREATE OR REPLACE MACRO aligned_ns(at_ns, local_ns, reference_ns, gain) AS
reference_ns + (at_ns - local_ns) - round((at_ns - local_ns) * gain)::BIGINT;
