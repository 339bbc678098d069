-- The id of a captured operation in one replay of its graph. It is below 0, so that it is the id of
-- no event of the trace. Ids grow with the replay and with captured_id. Their 46 bits are exact in
-- JSON: 22 for the replay and 24 for captured_id.
CREATE OR REPLACE MACRO replayed_id(replay, captured_id) AS
replay * 16777216 + captured_id - 70368744177664;

-- The captured_id of a replayed operation.
CREATE OR REPLACE MACRO captured_id_of(replayed) AS
(replayed + 70368744177664) % 16777216;
