-- The calls of operators whose operations follow from their shapes by a formula. `with_bytes` adds
-- calls for which only the bytes are known.
--
-- reads: attention_operators, convolution_operators, host_ops, is_operator,
--   matrix_product_operators, memory_bound_operators

CREATE OR REPLACE MACRO costed_names(with_bytes) AS TABLE
SELECT name FROM matrix_product_operators()
UNION
SELECT name FROM convolution_operators()
UNION
SELECT name FROM attention_operators()
UNION
SELECT name FROM memory_bound_operators() WHERE with_bytes;

-- `only_jobs`, `only_ranks`, `only_steps`: those to look at (NULL: all). is_rerun is true for calls
-- in a backward pass that record an autograd node of their own, as a forward pass does.
CREATE OR REPLACE MACRO costed_calls(with_bytes, only_jobs, only_ranks, only_steps) AS TABLE
SELECT
    o.job,
    o.rank,
    o.event_id,
    o.op_id,
    o.name,
    o.input_dims,
    o.input_types,
    o.concrete_inputs,
    coalesce(
        o.is_backward AND o.sequence_number >= 0 AND coalesce(o.fwd_thread_id, 0) = 0,
        false
    ) AS is_rerun
FROM host_ops AS o
SEMI JOIN costed_names(with_bytes) AS known ON known.name = o.name
WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
  AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
  AND (only_steps IS NULL OR list_contains(only_steps, o.step))
  AND is_operator(o.cat)
  AND o.input_dims IS NOT NULL;
