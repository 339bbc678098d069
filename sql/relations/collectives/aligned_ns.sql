-- An instant of a rank's clock on the reference rank's, by a row of aligned_clocks.
CREATE OR REPLACE MACRO aligned_ns(at_ns, local_ns, reference_ns, gain) AS
reference_ns + (at_ns - local_ns) - round((at_ns - local_ns) * gain)::BIGINT;
