-- One row per call in export_calls: the last operator in export_operators that begins before the
-- call, and whether the call lies in this operator. A call without such an operator has no row.
CREATE OR REPLACE TEMP TABLE export_nested AS
SELECT event_id, is_activity, name, start_ns, op_event_id, is_inside
FROM last_operators_before(export_operators, export_calls)
