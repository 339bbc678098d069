-- Converts an instant of a rank's clock to the reference rank's, with a row of aligned_clocks.
CREATE OR REPLACE MACRO aligned_ns(at_ns, local_ns, reference_ns, gain) AS
reference_ns + (at_ns - local_ns) - round((at_ns - local_ns) * gain)::BIGINT;
