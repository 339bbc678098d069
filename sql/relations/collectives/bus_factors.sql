-- How many bytes of a collective's message each link has to carry, as a multiple of the message.
--
-- In a group of n ranks the factor is `passes`, of this (n - 1) / n where a rank keeps its own
-- share (`keeps_own_share`). The message is the larger one of a rank's input and output. Bandwidth
-- times this factor, the bus bandwidth, can be held against a link's speed whatever the collective
-- and n. It is that of a ring; switches that reduce (NVLS, SHARP) may well go beyond a link's
-- speed.
--
-- To change a factor or add an operation, replace this view by one with the same columns.
CREATE OR REPLACE VIEW bus_factors AS
SELECT
    operation,        -- as collective_operation names it
    passes,
    keeps_own_share,
    reference         -- where the factor comes from
FROM (
    VALUES
        ('all_reduce', 2, true, 'nccl-tests, doc/PERFORMANCE.md, AllReduce'),
        ('all_gather', 1, true, 'nccl-tests, doc/PERFORMANCE.md, AllGather'),
        ('reduce_scatter', 1, true, 'nccl-tests, doc/PERFORMANCE.md, ReduceScatter'),
        ('all_to_all', 1, true, 'nccl-tests, src/alltoall.cu'),
        ('gather', 1, true, 'nccl-tests, src/gather.cu'),
        ('scatter', 1, true, 'nccl-tests, src/scatter.cu'),
        ('broadcast', 1, false, 'nccl-tests, doc/PERFORMANCE.md, Broadcast'),
        ('reduce', 1, false, 'nccl-tests, doc/PERFORMANCE.md, Reduce'),
        ('send', 1, false, 'nccl-tests, src/sendrecv.cu'),
        ('recv', 1, false, 'nccl-tests, src/sendrecv.cu')
) AS factors (operation, passes, keeps_own_share, reference);
