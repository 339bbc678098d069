-- The tags that users gave jobs: one row per job and tag.
--
-- Tags are given to traces, by --tag and by the columns of a list of traces. If the tags of a job's
-- ranks differ, the least value counts, in text order.
--
-- reads: traces
CREATE OR REPLACE VIEW job_tags AS
WITH
entries AS (
    SELECT job, unnest(map_entries(tags)) AS entry
    FROM traces
)
SELECT
    job,
    entry.key AS tag,            -- such as model, team, time
    min(entry.value) AS value
FROM entries
GROUP BY job, tag;
