-- A number for an operator call that no other call of the compared ranks has.
--
-- `of_rank` is rank_number in numbered_steps, below 2^17. `call_id` is the event_id of the call, or
-- the op_id of an activity that the call launches: 0 to 2^36 for events, and -2^46 to -1 for calls
-- that a graph replays (replayed_id).
CREATE OR REPLACE MACRO op_key(of_rank, call_id) AS
CASE
    WHEN call_id < 0 THEN call_id - (of_rank << 46)
    ELSE (of_rank << 36) + call_id
END;
