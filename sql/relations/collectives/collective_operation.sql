-- The operation of a collective, from the name that PyTorch gives it. NULL for unknown names.
CREATE OR REPLACE MACRO collective_operation(name) AS
CASE
    WHEN name IN ('allreduce', 'all_reduce', 'allreduce_coalesced', 'allreduce_sparse')
    THEN 'all_reduce'
    WHEN name IN (
        'all_gather', 'allgather', '_allgather_base', '_all_gather_base', 'all_gather_into_tensor',
        'allgather_into_tensor_coalesced', 'all_gather_into_tensor_coalesced',
        'allgather_coalesced', 'all_gather_coalesced'
    )
    THEN 'all_gather'
    WHEN name IN (
        'reduce_scatter', '_reduce_scatter_base', 'reduce_scatter_base', 'reduce_scatter_tensor',
        'reduce_scatter_tensor_coalesced', 'reduce_scatter_coalesced'
    )
    THEN 'reduce_scatter'
    WHEN name IN (
        'all_to_all', 'all_to_allv', 'alltoall', 'alltoallv', 'alltoall_base', 'all_to_all_single'
    )
    THEN 'all_to_all'
    WHEN name IN ('broadcast', '_broadcast_oop', 'broadcast_oop') THEN 'broadcast'
    WHEN name IN ('reduce', '_reduce_oop', 'reduce_oop') THEN 'reduce'
    WHEN name IN ('gather', 'scatter', 'send', 'recv', 'barrier') THEN name
END;

-- True if all members leave the operation together, once the last member has entered it. In other
-- operations, a root may finish before its peers have begun. False for an unknown operation, which
-- may be of either kind.
CREATE OR REPLACE MACRO ends_together(operation) AS
coalesce(
    operation IN ('all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier'),
    false
);

-- True if all members have to give the same number of input elements, and the same number of output
-- elements. False in these cases:
--   * Members may send or receive different numbers of elements.
--   * Only a root has all elements.
--   * The name is not in the list below.
CREATE OR REPLACE MACRO sizes_agree(name) AS
coalesce(
    collective_operation(name) IN ('all_reduce', 'broadcast', 'reduce', 'barrier')
    OR name IN (
        '_allgather_base', '_all_gather_base', 'all_gather_into_tensor',
        '_reduce_scatter_base', 'reduce_scatter_base', 'reduce_scatter_tensor'
    ),
    false
);

-- True for `send` and `recv`. False for all other operations and NULL.
CREATE OR REPLACE MACRO is_point_to_point(operation) AS
(operation IN ('send', 'recv')) IS TRUE;
