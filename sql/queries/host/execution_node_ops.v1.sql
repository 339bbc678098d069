-- Inputs and outputs of each operator and annotation, from PyTorch's execution trace.
--
-- An execution trace has one node per call. The node has the schema of the call, and the values,
-- shapes, types and strides of its inputs and outputs.
--
-- If the trace and the execution trace are recorded together, a call has the same number in both
-- files. The trace calls this number "Record function id", and the execution trace calls it
-- `rf_id`. The query joins a call and a node if both their numbers and their names are equal. Two
-- nodes of a rank should not have the same number. If they do, the first of these nodes counts.
--
-- Older profilers do not write a "Record function id". They write an "External id", which is also a
-- running number of the calls. If the trace and the execution trace began at the same time, the
-- "External id" of a call is equal to its `rf_id`. The query joins the calls of a rank by "External
-- id" if both conditions hold:
--
--   * No call of the rank has a "Record function id".
--   * Some calls have an "External id" that is the `rf_id` of a node. More than half of these calls
--     have the same name as the node.
--
-- If the second condition fails, the two ids number different things, and the rank has no rows.
-- With `only_steps`, these conditions are tested on the calls of the selected steps.
--
--     trace            aten::mm  External id 7    aten::mm   External id 7
--     execution trace  aten::mm  rf_id 7          aten::add  rf_id 7
--     result           a row                      no row
--
-- HTA's correlate_execution_trace joins by "External id" alone and does not compare names. HTA
-- returns nothing if an `rf_id` of the execution trace is below the smallest or above the largest
-- "External id" of the trace. So HTA returns nothing if the execution trace was recorded for longer
-- than the trace.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: execution_trace, host_ops
-- returns:
--   job                 VARCHAR  -   run of a program
--   rank                INTEGER  -   rank of the process
--   event_id            BIGINT   -   the operator or annotation
--   name                VARCHAR  -   name of the operator or annotation
--   step                BIGINT   -   step in which it began; NULL outside steps
--   start_ns            BIGINT   ns  start of the operator or annotation
--   dur_ns              BIGINT   ns  duration of the operator or annotation
--   node_id             BIGINT   -   number of its node in execution_nodes
--   parent_node_id      BIGINT   -   number of its caller's node
--   record_function_id  BIGINT   -   number of the call in both traces
--   joined_by           VARCHAR  -   column of host_ops that finds the node: record_function_id or
--                                    external_id
--   op_schema           VARCHAR  -   the operator's signature; NULL for annotations
--   kernel_backend      VARCHAR  -   backend that generated its kernel, such as triton; NULL if its
--                                    kernel is not generated
--   inputs              VARCHAR  -   JSON list: value of each input; of a tensor: ids, size and
--                                    device
--   input_shapes        VARCHAR  -   JSON list: sizes of each input
--   input_types         VARCHAR  -   JSON list: type of each input
--   input_strides       VARCHAR  -   JSON list: strides of each input; NULL if not recorded
--   outputs             VARCHAR  -   JSON list: value of each output, as in inputs
--   output_shapes       VARCHAR  -   JSON list: sizes of each output
--   output_types        VARCHAR  -   JSON list: type of each output
--   output_strides      VARCHAR  -   JSON list: strides of each output; NULL if not recorded
--   attributes          VARCHAR  -   JSON object: everything else, such as a collective's sizes
-- check: record_function_id <> 0
-- check: joined_by IN ('record_function_id', 'external_id')
-- reads: execution_nodes, host_ops
CREATE OR REPLACE MACRO execution_node_ops_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL  -- steps to list [default: the whole trace]
) AS TABLE
WITH
nodes AS (
    SELECT
        n.job,
        n.rank,
        n.record_function_id,
        min(n.position) AS position,
        arg_min(n.name, n.position) AS name
    FROM execution_nodes AS n
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, n.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, n.rank))
      AND n.record_function_id IS NOT NULL
    GROUP BY n.job, n.rank, n.record_function_id
),
ops AS (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.external_id,
        -- No call has the number 0: PyTorch counts from 1.
        nullif(o.record_function_id, 0) AS function_id,
        o.name,
        o.step,
        o.start_ns,
        o.dur_ns
    FROM host_ops AS o
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, o.step))
      AND o.cat IN ('cpu_op', 'Operator', 'user_annotation')
),
with_function_ids AS (
    SELECT DISTINCT job, rank
    FROM ops
    WHERE function_id IS NOT NULL
),
met AS (
    SELECT ops.*, nodes.position, nodes.name AS node_name, 'record_function_id' AS joined_by
    FROM ops
    JOIN nodes
        ON nodes.job = ops.job AND nodes.rank = ops.rank
        AND nodes.record_function_id = ops.function_id
    UNION ALL
    SELECT ops.*, nodes.position, nodes.name AS node_name, 'external_id' AS joined_by
    FROM ops
    JOIN nodes
        ON nodes.job = ops.job AND nodes.rank = ops.rank
        AND nodes.record_function_id = ops.external_id
    ANTI JOIN with_function_ids AS has
        ON has.job = ops.job AND has.rank = ops.rank
),
believed AS (
    SELECT job, rank
    FROM met
    GROUP BY job, rank
    HAVING any_value(joined_by) = 'record_function_id'
        OR 2 * count_if(name = node_name) > count(*)
)
SELECT
    met.job,
    met.rank,
    met.event_id,
    met.name,
    met.step,
    met.start_ns,
    met.dur_ns,
    n.node_id,
    n.parent_id AS parent_node_id,
    n.record_function_id,
    met.joined_by,
    n.op_schema,
    n.kernel_backend,
    n.inputs,
    n.input_shapes,
    n.input_types,
    n.input_strides,
    n.outputs,
    n.output_shapes,
    n.output_types,
    n.output_strides,
    n.attributes
FROM met
SEMI JOIN believed
    ON believed.job = met.job AND believed.rank = met.rank
JOIN execution_nodes AS n
    ON n.job = met.job AND n.rank = met.rank AND n.position = met.position
    AND n.name = met.name
ORDER BY met.job, met.rank, met.event_id;
