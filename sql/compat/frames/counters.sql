-- get_cupti_counter_data_with_operators: one row per kernel and counter.
--
-- $rank: the rank.
SELECT
    event_id AS index,
    counter,
    value,
    launch_id AS index_runtime,
    coalesce(op_stack, '') AS op_stack,
    coalesce(top_op, '') AS top_level_op,
    coalesce(bottom_op, '') AS bottom_level_op
FROM hardware_counters_v1(only_ranks := [$rank])
ORDER BY start_ns, event_id, counter
