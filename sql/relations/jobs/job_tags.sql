-- One row per job and tag.
--
-- Users give tags to traces, by --tag and by the columns of a list of traces. If the ranks of a job
-- have different values for a tag, the first value in text order counts.
--
-- shared: session
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
