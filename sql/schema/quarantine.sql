-- Every piece of input that could not be used.
CREATE OR REPLACE MACRO quarantine_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS path,
    NULL::BIGINT AS event_id,      -- its position among the elements of the file's list
    NULL::BIGINT AS byte_offset,   -- in the uncompressed file
    NULL::BIGINT AS byte_length,
    NULL::VARCHAR AS reason,
    NULL::BLOB AS bytes,           -- as they stood in the file; above 16 MB the first 64 kB
    NULL::BOOLEAN AS is_cut        -- bytes are not all of it
WHERE false;

CREATE OR REPLACE VIEW quarantine AS
FROM quarantine_schema();
