-- One row per event in export_calls: the last operator in export_operators that begins before the
-- event's call or with it, and whether the call is inside this operator (is_inside). Events without
-- such an operator have no row.
CREATE OR REPLACE TEMP TABLE export_nested AS
SELECT event_id, is_activity, name, start_ns, op_event_id, is_inside
FROM last_operators_before(export_operators, export_calls)
