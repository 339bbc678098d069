-- The operators of the steps `numbered`, rows of numbered_steps of `base_job` and `test_job`.
--
--     op_key      key of side, rank and event_id: rank_number * 2^36 + event_id. An activity's
--                 op_id gives the same key
--     parent_key  op_key of the operator around it. In a backward pass without one, that of the
--                 forward operator to which the backward pass belongs. NULL: outermost
--     is_inside   parent_key is the operator around it, so that its time is part of that one's
--     sample      number of the side and step: the ranks of a step count together
--
-- reads: host_ops, is_operator, may_be_compared
CREATE OR REPLACE MACRO compared_ops(numbered, base_job, test_job) AS TABLE
SELECT
    s.sample,
    (s.rank_number << 36) + o.event_id AS op_key,
    (s.rank_number << 36)
        + coalesce(o.op_id, CASE WHEN o.is_backward THEN o.forward_id END) AS parent_key,
    o.op_id IS NOT NULL AS is_inside,
    o.name,
    o.input_dims,
    hash(o.name) AS name_hash,
    hash(o.input_dims) AS dims_hash,
    o.dur_ns
FROM host_ops AS o
JOIN query_table(numbered) AS s
    ON s.job = o.job AND s.rank = o.rank AND s.step_key = coalesce(o.step, -1)
WHERE is_operator(o.cat) AND may_be_compared(o.job, base_job, test_job);
