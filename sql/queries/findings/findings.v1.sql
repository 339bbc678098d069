-- What costs a job the most time, what to do about it, and how much that would gain.
--
-- A finding is one row: a rule that has found its pattern. Rows are ordered by what they gain, so
-- the first row of a job is where to look first. A rule is silent if the trace lacks what the rule
-- needs; trace_quality shows what a trace lacks.
--
-- Times are of a steady step. Long first steps, which warm up, are left out. If the trace has no
-- steps, times are of the whole trace, from the first GPU activity to the last (gain_unit is
-- `trace`).
--
-- estimated_gain_ns is what a step could save. It is careful, and it assumes that all
-- else stays the same. Gains of different rows do not add up. The severity follows from the gain:
--
--     high    10 % of a step or more
--     medium  3 % or more
--     low     1 % or more
--     info    less, or the rule has no gain
--
-- Each moment of idle time belongs to at most one of the rules data_loading, gpu_sync,
-- memory_thrash, slow_launches, stalled_after_launch, launch_overhead and host_bound.
--
-- A step of the job takes as long as its slowest rank. So a finding on one rank gains only what
-- the job gains until another rank is the slowest. If more than half of the ranks have the same
-- finding, it is one row with a NULL rank, and its figures are of the rank that bounds the job: the
-- rank that waits for others the least.
--
-- The limits of all rules are rows of the view finding_thresholds.
--
-- since: 0.1
-- grain: job, rank, rule, subject
-- needs: traces
-- returns:
--   job                  VARCHAR  -      run of a program
--   rank                 INTEGER  -      rank with the finding; NULL if most ranks have it
--   rule                 VARCHAR  -      name of the rule
--   subject              VARCHAR  -      operator, kernel, call or rank that the finding is about
--   severity             VARCHAR  -      high, medium, low or info
--   title                VARCHAR  -      the finding in one line
--   evidence             VARCHAR  -      sentences with the numbers of the finding
--   evidence_numbers     VARCHAR  -      the same numbers as JSON, and the ranks
--   estimated_gain_ns    BIGINT   ns     what a step could save; NULL: the rule has no
--                                        gain
--   estimated_gain_frac  DOUBLE   0-1    estimated_gain_ns / median step of the rank that bounds
--                                        the job, or / its time from first to last activity
--   gain_unit            VARCHAR  -      step or trace: what the gain is of
--   gain_method          VARCHAR  -      how the gain is estimated
--   confidence           VARCHAR  -      high, medium or low
--   advice               VARCHAR  -      what to do
--   see                  VARCHAR  -      command that shows more
-- check: severity IN ('high', 'medium', 'low', 'info')
-- check: estimated_gain_ns >= 0
-- check: (estimated_gain_ns IS NULL) = (gain_method IS NULL)
-- check: confidence IN ('high', 'medium', 'low')
-- check: title IS NOT NULL AND evidence IS NOT NULL AND advice IS NOT NULL AND see IS NOT NULL
-- reads: found_by_rules, in_order_of_gain
CREATE OR REPLACE MACRO findings_v1(
    only_jobs VARCHAR[] := NULL  -- jobs to look at [default: all]
) AS TABLE
WITH
found AS (
    FROM found_by_rules(only_jobs)
)
FROM in_order_of_gain(found)
ORDER BY job, estimated_gain_ns DESC NULLS LAST, rule, subject, rank NULLS FIRST;
