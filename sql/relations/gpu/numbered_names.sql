-- The names of activities, numbered in their order: name and name_number. Names are long and few;
-- numbers are carried through joins and sorts in their place.
--
-- `jobs`, `ranks` and `steps` are those to look at, as in activities_of; of these, names with
-- `part` in them, NULL for all.
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
