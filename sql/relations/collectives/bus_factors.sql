-- One row per operation: how many bytes a link carries in a collective, divided by the collective's
-- size in bytes.
--
-- The size is the larger one of a rank's input and output. A rank's own share is the part of the
-- data that the rank does not send. In a group of n ranks, the factor is
--
--     passes * (n - 1) / n    if each rank keeps its own share
--     passes                  if not
--
-- Bandwidth times this factor is the bus bandwidth. The bus bandwidth can be compared with a link's
-- speed, for any collective and any n. The factors assume that the ranks form a ring. If switches
-- reduce the data (NVLS, SHARP), the bus bandwidth can exceed a link's speed.
--
-- To change a factor or add an operation, replace this view by one with the same columns.
--
-- shared: session
CREATE OR REPLACE VIEW bus_factors AS
SELECT
    operation,        -- operation, as collective_operation names it
    passes,           -- the factor, without (n - 1) / n
    keeps_own_share,  -- true: the factor has (n - 1) / n
    reference         -- source of the factor
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
