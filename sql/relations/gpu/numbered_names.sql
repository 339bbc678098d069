-- One row per distinct name of GPU activities: name, and name_number, its number in text order.
--
-- There are few names, but they are long. So joins and sorts carry the numbers, not the names.
--
-- `jobs`, `ranks` and `steps`: the activities to read, as in activities_of.
-- `part`: only names that contain this text (NULL: all).
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
