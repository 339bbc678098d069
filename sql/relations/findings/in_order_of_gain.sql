-- Findings in the order of the query findings: the largest gain of a job first.
--
-- `found`: rows of found_by_rules.
CREATE OR REPLACE MACRO in_order_of_gain(found) AS TABLE
SELECT
    f.job,
    f.rank,
    f.rule,
    f.subject,
    f.severity,
    f.title,
    f.evidence,
    f.evidence_numbers,
    f.estimated_gain_ns,
    f.estimated_gain_frac,
    f.gain_unit,
    f.gain_method,
    f.confidence,
    f.advice,
    f.see
FROM query_table(found) AS f
ORDER BY f.job, f.estimated_gain_ns DESC NULLS LAST, f.rule, f.subject, f.rank NULLS FIRST;
