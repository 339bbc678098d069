-- Creates the empty tables that the other files of an export fill and read.
--
-- If export_all is true and the tables stay empty, all events are exported without changes. A lane
-- is a thread or a stream of a rank.
--
--     export_marks     members of JSON that are added to an event's arguments: `"critical":1`
--     export_selected  one row per exported event, with its lane in export_lanes. Exports read it
--                      only if export_all is false
--     export_lanes     one row per lane, with its process in the export
--     export_devices   one row per device, with its number in the export
CREATE OR REPLACE TEMP TABLE export_marks (event_id BIGINT, members VARCHAR);

CREATE OR REPLACE TEMP TABLE export_selected (rank INTEGER, event_id BIGINT, lane BIGINT);

CREATE OR REPLACE TEMP TABLE export_lanes (
    lane BIGINT,
    rank INTEGER,
    pid VARCHAR,
    tid VARCHAR,
    is_device BOOLEAN,
    is_used BOOLEAN,
    device BIGINT,
    new_pid VARCHAR
);

CREATE OR REPLACE TEMP TABLE export_devices (rank INTEGER, device BIGINT, new_device BIGINT);
