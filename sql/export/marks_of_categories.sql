-- Marks each GPU activity of the rank with its category, as in categorised_activities.
CREATE OR REPLACE TEMP TABLE export_marks AS
SELECT c.event_id, '"Category":' || to_json(c.kernel_category)::VARCHAR AS members
FROM categorised_activities_of(
    [getvariable('export_job')], [getvariable('export_rank')], NULL
) AS c
