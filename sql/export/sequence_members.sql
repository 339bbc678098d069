-- Which of these calls the last operator before each is to, and whether it lies in it.
CREATE OR REPLACE TEMP TABLE export_nested AS
SELECT event_id, is_activity, name, start_ns, op_event_id, is_inside
FROM last_operators_before(export_operators, export_calls)
