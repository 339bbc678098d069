-- One row per node of one piece of an execution trace: a file holding a JSON array cut from
-- `nodes`.
--
-- Up to schema 1.0, a node is flat. Since schema 1.1:
--   * Its parent is in `ctrl_deps`.
--   * Its inputs are one object, and its outputs are one object.
--   * Most other fields are in `attrs`, a list of name, type and value.

-- The BIGINT in the text of a JSON number or string; NULL if it is not a whole number or too large.
CREATE OR REPLACE MACRO whole_number(text) AS
CASE WHEN regexp_full_match(text, '-?[0-9]{1,19}') THEN TRY_CAST(text AS BIGINT) END;

-- The text of a JSON value. The text of a string has no quotes.
CREATE OR REPLACE MACRO unquoted(value) AS value ->> '$';

-- Values, shapes, types and strides of a node's inputs or outputs. All are NULL if `side` is not an
-- object.
CREATE OR REPLACE MACRO parts_of(side) AS
json_transform(
    CASE WHEN prefix(side, '{') THEN side ELSE '{}' END,
    '{"values": "JSON", "shapes": "JSON", "types": "JSON", "strides": "JSON"}'
);

-- The JSON text of a value; NULL if the value is missing or null.
CREATE OR REPLACE MACRO json_text(value) AS CAST(nullif(value, 'null') AS VARCHAR);

-- The keys and attributes of a node that nodes_of reads into columns of their own.
CREATE OR REPLACE MACRO known_node_keys() AS [
    'id', 'name', 'parent', 'ctrl_deps', 'rf_id', 'seq_id', 'scope', 'tid', 'fw_tid', 'fw_parent',
    'op_schema', 'kernel_backend', 'kernel_file', 'inputs', 'input_shapes', 'input_types',
    'input_strides', 'outputs', 'output_shapes', 'output_types', 'output_strides', 'attrs'
];

-- The keys and attributes of a node that are not in known_node_keys, as one JSON object. NULL if
-- there are none.
CREATE OR REPLACE MACRO other_attributes(json, keys, attrs) AS
nullif(
    json_merge_patch(
        CASE
            WHEN list_has_all(known_node_keys(), keys)
            THEN '{}'
            -- A merge leaves out keys that are NULL.
            ELSE json_merge_patch(json, '{
                "id": null, "name": null, "parent": null, "ctrl_deps": null, "rf_id": null,
                "seq_id": null, "scope": null, "tid": null, "fw_tid": null, "fw_parent": null,
                "op_schema": null, "kernel_backend": null, "kernel_file": null, "inputs": null,
                "input_shapes": null, "input_types": null, "input_strides": null,
                "outputs": null, "output_shapes": null, "output_types": null,
                "output_strides": null, "attrs": null
            }')
        END,
        '{' || array_to_string(
            list_transform(
                list_filter(
                    attrs,
                    lambda a: a.name IS NOT NULL AND NOT list_contains(known_node_keys(), a.name)
                ),
                lambda a: to_json(a.name) || ':' || coalesce(CAST(a.value AS VARCHAR), 'null')
            ),
            ','
        ) || '}'
    ),
    '{}'
);

-- The columns of `execution_nodes` except position. `problem` says why a node cannot be used.
CREATE OR REPLACE MACRO nodes_of(piece) AS TABLE
WITH
objects AS (
    SELECT
        json,
        json_keys(json) AS keys,
        json_transform(
            json,
            '{"id": "VARCHAR", "name": "VARCHAR", "parent": "VARCHAR", "ctrl_deps": "VARCHAR",
              "rf_id": "VARCHAR", "seq_id": "VARCHAR", "scope": "VARCHAR", "tid": "VARCHAR",
              "fw_tid": "VARCHAR", "fw_parent": "VARCHAR", "op_schema": "VARCHAR",
              "kernel_backend": "VARCHAR", "kernel_file": "VARCHAR",
              "inputs": "JSON", "input_shapes": "JSON", "input_types": "JSON",
              "input_strides": "JSON", "outputs": "JSON", "output_shapes": "JSON",
              "output_types": "JSON", "output_strides": "JSON",
              "attrs": [{"name": "VARCHAR", "value": "JSON"}]}'
        ) AS node
    FROM read_json_objects(piece, format = 'array')
),
with_parts AS (
    SELECT
        *,
        coalesce(node.attrs, []) AS attrs,
        list_transform(attrs, lambda a: a.name) AS names,
        list_transform(attrs, lambda a: a.value) AS attr_values,
        parts_of(node.inputs) AS inputs,
        parts_of(node.outputs) AS outputs,
        whole_number(node.id) AS node_id,
        whole_number(coalesce(node.ctrl_deps, node.parent)) AS parent_id
    FROM objects
),
with_attributes AS (
    SELECT
        *,
        coalesce(node.rf_id, unquoted(attr_values[list_position(names, 'rf_id')])) AS rf_id,
        coalesce(node.seq_id, unquoted(attr_values[list_position(names, 'seq_id')])) AS seq_id,
        coalesce(node.scope, unquoted(attr_values[list_position(names, 'scope')])) AS scope,
        coalesce(node.tid, unquoted(attr_values[list_position(names, 'tid')])) AS tid,
        coalesce(node.fw_tid, unquoted(attr_values[list_position(names, 'fw_tid')])) AS fw_tid,
        coalesce(node.fw_parent, unquoted(attr_values[list_position(names, 'fw_parent')]))
            AS fw_parent,
        coalesce(node.op_schema, unquoted(attr_values[list_position(names, 'op_schema')]))
            AS op_schema,
        coalesce(
            node.kernel_backend, unquoted(attr_values[list_position(names, 'kernel_backend')])
        ) AS kernel_backend,
        coalesce(node.kernel_file, unquoted(attr_values[list_position(names, 'kernel_file')]))
            AS kernel_file
    FROM with_parts
)
SELECT
    node_id,
    -- In an execution trace, the root node is its own parent. Here its parent_id is NULL.
    nullif(parent_id, node_id) AS parent_id,
    node.name AS name,
    nullif(whole_number(rf_id), 0) AS record_function_id,
    CASE WHEN whole_number(seq_id) >= 0 THEN whole_number(seq_id) END AS sequence_number,
    whole_number(scope) AS scope,
    whole_number(tid) AS thread_id,
    nullif(whole_number(fw_tid), 0) AS forward_thread_id,
    nullif(whole_number(fw_parent), 0) AS forward_parent_id,
    nullif(op_schema, '') AS op_schema,
    nullif(kernel_backend, '') AS kernel_backend,
    nullif(kernel_file, '') AS kernel_file,
    json_text(CASE WHEN prefix(node.inputs, '{') THEN inputs.values ELSE node.inputs END)
        AS inputs,
    json_text(coalesce(inputs.shapes, node.input_shapes)) AS input_shapes,
    json_text(coalesce(inputs.types, node.input_types)) AS input_types,
    json_text(coalesce(inputs.strides, node.input_strides)) AS input_strides,
    json_text(CASE WHEN prefix(node.outputs, '{') THEN outputs.values ELSE node.outputs END)
        AS outputs,
    json_text(coalesce(outputs.shapes, node.output_shapes)) AS output_shapes,
    json_text(coalesce(outputs.types, node.output_types)) AS output_types,
    json_text(coalesce(outputs.strides, node.output_strides)) AS output_strides,
    CAST(other_attributes(json, keys, attrs) AS VARCHAR) AS attributes,
    CASE
        WHEN json_type(json) IS DISTINCT FROM 'OBJECT' THEN 'not a node'
        WHEN len(list_distinct(keys)) < len(keys) THEN 'unusable node: a key stands twice'
        WHEN node_id IS NULL THEN 'missing or unusable "id"'
    END AS problem
FROM with_attributes;
