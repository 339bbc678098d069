-- Macros that change or read the arguments of an event for an export. `arguments` is the text of a
-- JSON object.

-- Adds `more_members` to the front of the arguments. `more_members` is the text between the braces
-- of a JSON object; NULL adds nothing. If `arguments` is not an object, `arguments` becomes the
-- member `args` of a new object.
CREATE OR REPLACE MACRO with_members(arguments, more_members) AS
CASE
    WHEN more_members IS NULL THEN arguments
    WHEN arguments IS NULL OR regexp_full_match(arguments, '\s*\{\s*\}\s*')
    THEN '{' || more_members || '}'
    WHEN regexp_matches(arguments, '^\s*\{')
    THEN '{' || more_members || ',' || regexp_replace(arguments, '^\s*\{', '')
    ELSE '{' || more_members || ',"args":' || arguments || '}'
END;

-- Appends `digits`, a number that stands for the rank, to each id that links events of one rank,
-- such as `correlation`. So the ids link no event to an event of another rank. An id of 0 or
-- less links no events and does not change.
CREATE OR REPLACE MACRO ids_of_rank(arguments, digits) AS
regexp_replace(
    arguments,
    '("(?:correlation|External id|Record function id|Sequence number|Fwd thread id|'
        || 'Python id|Python parent id|wait_on_cuda_event_record_corr_id|wait_on_cuda_event_id|'
        || 'event_id|graph id)"\s*:\s*"?[1-9]\d*)',
    '\1' || digits,
    'g'
);

-- The number of the GPU whose memory an event changes. NULL if the event changes the host's memory.
CREATE OR REPLACE MACRO device_of_memory(arguments) AS
CASE
    WHEN regexp_matches(arguments, '"Device Type"\s*:\s*"?[1-9]')
    THEN TRY_CAST(regexp_extract(arguments, '"Device Id"\s*:\s*"?(\d+)', 1) AS BIGINT)
END;
