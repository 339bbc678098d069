-- What the user told of jobs: one row a job and tag.
--
-- Tags are told of traces, by --tag and by the columns of a list of traces. Where those of a job's
-- ranks differ, the least counts, in the order of text.
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
