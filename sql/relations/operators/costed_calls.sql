-- The calls of operators for which a formula gives the cost from the shapes.
--
-- reads: attention_operators, convolution_operators, host_ops, is_operator,
--   matrix_product_operators, memory_bound_operators

-- One row per name of an operator with a formula for its operations.
--
-- `with_bytes`: whether to add the operators that have a formula only for their bytes.
CREATE OR REPLACE MACRO costed_names(with_bytes) AS TABLE
SELECT name FROM matrix_product_operators()
UNION
SELECT name FROM convolution_operators()
UNION
SELECT name FROM attention_operators()
UNION
SELECT name FROM memory_bound_operators() WHERE with_bytes;

-- One row per call of an operator in costed_names.
--
-- `with_bytes`: as in costed_names.
-- `only_jobs`, `only_ranks`: jobs and ranks to read (NULL: all).
-- `only_steps`: steps in which the call begins (NULL: the whole trace).
--
-- is_rerun is true if the call repeats a part of the forward pass during a backward pass, as
-- activation checkpointing does. The sign of such a call is that it is in a backward pass
-- and records an autograd node of its own.
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
