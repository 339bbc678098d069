-- The calls of operators for which a formula gives the cost from the shapes.
--
-- reads: attention_operators, call_contexts, convolution_operators, expert_operators,
--   grouped_product_operators, is_compiled_kernel, is_operator, list_contexts, list_operators,
--   matrix_product_operators, memory_bound_operators, moving_operators, normalization_operators,
--   packed_product_operators, served_attention_operators, shaped_calls, user_operators

-- The names of operators with a formula for their operations. A name can have several rows.
--
-- `with_bytes`: whether to add the operators that have a formula only for their bytes.
CREATE OR REPLACE MACRO costed_names(with_bytes) AS TABLE
SELECT name FROM matrix_product_operators()
UNION ALL
SELECT name FROM convolution_operators()
UNION ALL
SELECT name FROM attention_operators()
UNION ALL
SELECT name FROM served_attention_operators()
UNION ALL
SELECT name FROM grouped_product_operators()
UNION ALL
SELECT name FROM packed_product_operators()
UNION ALL
SELECT name FROM expert_operators()
UNION ALL
SELECT name FROM user_operators()
UNION ALL
SELECT name FROM memory_bound_operators() WHERE with_bytes
UNION ALL
SELECT name FROM normalization_operators() WHERE with_bytes
UNION ALL
SELECT name FROM moving_operators() WHERE with_bytes
UNION ALL
SELECT name FROM list_operators() WHERE with_bytes;

-- One row per call of an operator in costed_names. If with_bytes, also one row per call of a kernel
-- that torch.compile made.
--
-- `with_bytes`: as in costed_names.
-- `only_jobs`, `only_ranks`: jobs and ranks to read (NULL: all).
-- `only_steps`: steps in which the call begins (NULL: the whole trace).
--
-- is_rerun is true if the call repeats a part of the forward pass during a backward pass, as
-- activation checkpointing does. The sign of such a call is that it is in a backward pass
-- and records an autograd node of its own.
CREATE OR REPLACE MACRO costed_calls(with_bytes, only_jobs, only_ranks, only_steps) AS TABLE
WITH
-- The calls, and what can be their context.
traced AS MATERIALIZED (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.op_id,
        o.annotation_id,
        is_operator(o.cat) AS is_op,
        known.name IS NOT NULL OR with_bytes AND is_compiled_kernel(o.name) AS is_costed,
        o.name,
        o.input_dims,
        o.input_types,
        o.concrete_inputs,
        only_steps IS NULL OR coalesce(list_contains(only_steps, o.step), false) AS is_wanted,
        coalesce(
            o.is_backward AND o.sequence_number >= 0 AND coalesce(o.fwd_thread_id, 0) = 0,
            false
        ) AS is_rerun
    FROM shaped_calls AS o
    LEFT JOIN (SELECT DISTINCT name FROM costed_names(with_bytes)) AS known
        ON known.name = o.name
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND (
          is_operator(o.cat) AND o.input_dims IS NOT NULL AND (
              is_costed
              OR NOT prefix(o.name, 'aten::')
              OR o.name = 'aten::view'
                  AND regexp_matches(o.input_dims, '^\[\s*\[\d+,\s*\d+,\s*\d+\]')
          )
          OR o.cat = 'user_annotation'
      )
),
contexts AS (
    SELECT job, rank, event_id, context FROM call_contexts(traced)
    UNION ALL
    SELECT job, rank, event_id, context
    FROM list_contexts(traced, only_jobs, only_ranks)
    WHERE with_bytes
)
SELECT
    t.job,
    t.rank,
    t.event_id,
    t.op_id,
    t.name,
    t.input_dims,
    t.input_types,
    t.concrete_inputs,
    c.context,
    t.is_rerun
FROM traced AS t
LEFT JOIN contexts AS c
    ON c.job = t.job AND c.rank = t.rank AND c.event_id = t.event_id
WHERE t.is_op AND t.is_costed AND t.is_wanted;

-- All rows of costed_calls that have a cost by their operations or bytes.
CREATE OR REPLACE MACRO all_costed_calls() AS TABLE
FROM costed_calls(true, NULL, NULL, NULL);
