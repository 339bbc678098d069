-- The id of a captured operation in one replay of its graph. It is below 0, so that it is the id of
-- no event of the trace. Ids grow with the replay and with captured_id. Their 52 bits are exact in
-- JSON.
CREATE OR REPLACE MACRO replayed_id(replay, captured_id) AS
replay * 268435456 + captured_id - 4503599627370496;

-- The captured_id of a replayed operation.
CREATE OR REPLACE MACRO captured_id_of(replayed) AS
(replayed + 4503599627370496) % 268435456;
