-- The names of activities, numbered in their order: name and name_number.
--
-- There are few names, but they are long. Joins and sorts carry the numbers instead of the names.
-- `jobs`, `ranks` and `steps`: those to look at, as in activities_of. `part`: only names that
-- contain this (NULL: all).
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO numbered_names(jobs, ranks, steps, part) AS TABLE
SELECT name, row_number() OVER (ORDER BY name) AS name_number
FROM (
    SELECT DISTINCT a.name
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
      AND (steps IS NULL OR list_contains(steps, a.step))
      AND (part IS NULL OR contains(a.name, part))
);
