-- The findings of jobs that are known without computing them: those that `hta-sql materialize` has
-- stored, and those that hta-sql has computed since it opened the archive.
--
-- reads: in_order_of_gain, stored_findings, stored_findings_schema, stored_results

-- The findings that hta-sql has computed. It puts a table in place of this empty view.
CREATE OR REPLACE VIEW computed_findings AS
FROM stored_findings_schema();

-- The jobs whose findings are in computed_findings, also if there are none.
CREATE OR REPLACE VIEW jobs_with_computed_findings AS
SELECT f.job
FROM computed_findings AS f
WHERE false;

-- The rows of computed_findings of these jobs, as the query findings returns them.
--
-- `jobs`: the jobs to look at (NULL: all)
CREATE OR REPLACE MACRO computed_findings_of(jobs) AS TABLE
WITH
found AS (
    FROM computed_findings AS f
    WHERE (jobs IS NULL OR list_contains(jobs, f.job))
)
FROM in_order_of_gain(found);

-- One row per job whose findings are known, also if there are none.
CREATE OR REPLACE MACRO jobs_with_known_findings() AS TABLE
SELECT s.job FROM stored_results AS s WHERE s.query = 'findings_v1'
UNION
SELECT c.job FROM jobs_with_computed_findings AS c;

-- One row per finding, with the columns of the query findings.
--
-- `jobs`: the jobs to look at (NULL: all)
CREATE OR REPLACE MACRO known_findings(jobs) AS TABLE
SELECT s.*
FROM stored_findings AS s
WHERE (jobs IS NULL OR list_contains(jobs, s.job))
UNION ALL BY NAME
SELECT c.*
FROM computed_findings AS c
WHERE (jobs IS NULL OR list_contains(jobs, c.job))
  AND c.job NOT IN (SELECT s.job FROM stored_results AS s WHERE s.query = 'findings_v1');
