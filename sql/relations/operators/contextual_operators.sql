-- One row per operator whose cost needs more than its arguments: the kind of its context, as in
-- call_contexts.
--
-- shared: session
--
-- reads: served_attention_operators
CREATE OR REPLACE MACRO contextual_operators() AS TABLE
SELECT name, 'load' AS context
FROM served_attention_operators()
UNION ALL
SELECT unnest(['vllm::moe_forward', 'vllm::moe_forward_shared']) AS name, 'inside' AS context;
