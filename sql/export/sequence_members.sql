-- The last operator that begins before each of these calls, and whether the call lies in it.
CREATE OR REPLACE TEMP TABLE export_nested AS
SELECT event_id, is_activity, name, start_ns, op_event_id, is_inside
FROM last_operators_before(export_operators, export_calls)
