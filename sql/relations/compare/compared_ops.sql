-- One row per operator call in the compared steps, also of calls that a graph replays.
--
-- `numbered` are rows of numbered_steps. `base_job` and `test_job` are the query's parameters.
--
--     sample      number of the side and step. The ranks of a step have the same sample
--     op_key      unique over both sides and all ranks, see op_key
--     parent_key  op_key of the caller, which is the operator around the call. If no operator is
--                 around a call in the backward pass, the caller is the forward operator whose
--                 gradient the call computes. NULL: no caller
--     is_inside   true if the caller is around the call. The caller's time then contains the
--                 call's time
--
-- reads: host_calls, is_operator, may_be_compared, op_key
CREATE OR REPLACE MACRO compared_ops(numbered, base_job, test_job) AS TABLE
SELECT
    s.sample,
    op_key(s.rank_number, o.event_id) AS op_key,
    op_key(
        s.rank_number, coalesce(o.op_id, CASE WHEN o.is_backward THEN o.forward_id END)
    ) AS parent_key,
    o.op_id IS NOT NULL AS is_inside,
    o.name,
    o.input_dims,
    hash(o.name) AS name_hash,
    hash(o.input_dims) AS dims_hash,
    o.dur_ns
FROM host_calls AS o
JOIN query_table(numbered) AS s
    ON s.job = o.job AND s.rank = o.rank AND s.step_key = coalesce(o.step, -1)
WHERE is_operator(o.cat) AND may_be_compared(o.job, base_job, test_job);
