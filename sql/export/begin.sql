-- What the other files read: empty, or as if everything were exported.
--
--     export_marks     members of JSON that events get among their arguments: `"critical":1`
--     export_selected  the events that are exported, where not all are (export_all), each with its
--                      lane in export_lanes
--     export_lanes     threads and streams of a rank, each with the process that it is of now
--     export_devices   devices with their numbers now
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
