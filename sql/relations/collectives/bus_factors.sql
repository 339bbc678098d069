-- How many bytes each link carries for a collective, as a multiple of the message.
--
-- In a group of n ranks the factor is `passes`, times (n - 1) / n if each rank keeps its own share
-- (`keeps_own_share`). The message is the larger of a rank's input and output. Bandwidth times this
-- factor is the bus bandwidth. It can be compared with a link's speed, for any collective and any
-- n. The factors are those of a ring. Switches that reduce (NVLS, SHARP) can exceed a link's speed.
--
-- To change a factor or add an operation, replace this view by one with the same columns.
CREATE OR REPLACE VIEW bus_factors AS
SELECT
    operation,        -- name that collective_operation gives
    passes,
    keeps_own_share,
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
