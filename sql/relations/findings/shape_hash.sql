-- A number for an operator's name with the texts of its arguments, so that calls can be joined to
-- their shape by one number.
CREATE OR REPLACE MACRO shape_hash(name, input_dims, input_types, concrete_inputs) AS
hash(name, input_dims, input_types, concrete_inputs);
