-- The id of a captured operation in one replay of its graph. It is below 0, so that it is the id of
-- no event of the trace.
CREATE OR REPLACE MACRO replayed_id(replay, captured_id) AS
-1 - (replay * 4294967296 + captured_id);
