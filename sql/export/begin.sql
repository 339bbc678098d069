-- Creates the tables that the other files read. They are empty, which means that everything is
-- exported.
--
--     export_marks     members of JSON that events get in their arguments: `"critical":1`
--     export_selected  the exported events with their lanes in export_lanes, if not all events are
--                      exported (export_all)
--     export_lanes     threads and streams of a rank, each with its process in the export
--     export_devices   devices with their numbers in the export
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
