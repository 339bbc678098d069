-- No rows, with the columns that a rule returns besides its name.
--
-- A rule may leave out `is_of_job`. It is true if gain_ns is already the gain of the whole job.
CREATE OR REPLACE MACRO finding_rows() AS TABLE
SELECT
    NULL::VARCHAR AS rule,
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,         -- rank that has the finding
    NULL::VARCHAR AS topic,        -- rows of a job with the same topic are one finding
    NULL::VARCHAR AS subject,      -- operator, kernel, call or host that it is about
    NULL::VARCHAR AS title,
    NULL::VARCHAR AS evidence,     -- sentences with the numbers of the subject
    NULL::JSON AS numbers,         -- the same numbers for programs
    NULL::BIGINT AS gain_ns,       -- per step, or of the trace without steps; NULL: no gain
    NULL::VARCHAR AS gain_method,
    NULL::VARCHAR AS confidence,   -- high, medium or low
    NULL::VARCHAR AS advice,
    NULL::VARCHAR AS see,          -- query and options that show more
    NULL::BOOLEAN AS is_of_job
WHERE false;
