-- Macros that find the calls of the runtime or driver in which the host waits for a device.

-- Whether a call's name says that the host waits for a device, stream or event. These calls are
-- left out:
--
--   * calls that make a stream wait, not the host (cudaStreamWaitEvent)
--   * calls that ask whether work is done, and do not wait for it (cudaEventQuery)
--   * calls that do other work, and may wait in addition (cudaMalloc, cudaFree)
CREATE OR REPLACE MACRO waits_for_device(name) AS
CASE
    -- CUDA, HIP, MTIA, Level Zero, Ascend and others: cudaStreamSynchronize, cuCtxSynchronize,
    -- hipDeviceSynchronize, synchronizeStream, zeEventHostSynchronize, aclrtSynchronizeStream.
    WHEN regexp_matches(name, '(?i)synchroni[sz]e')
    THEN true
    -- SYCL's layers: urQueueFinish and piEventsWait. urEnqueueEventsWait makes only the device
    -- wait.
    WHEN regexp_matches(name, '^(ur|pi)(QueueFinish|EventWait|EventsWait)$')
    THEN true
    WHEN regexp_matches(name, '^cl(Finish|WaitForEvents)$')
    THEN true
    ELSE false
END;

-- Whether a call's name says that the call copies and returns only when the copy is done:
-- cudaMemcpy, cuMemcpyDtoH_v2, and also hipMemcpyWithStream. A call that copies on a device or
-- between devices can return earlier, even with such a name: see blocks_host.
CREATE OR REPLACE MACRO copies_synchronously(name) AS
coalesce(
    regexp_matches(name, '^(cuda|cu|hip)Memcpy')
    AND NOT regexp_matches(name, 'Async|Peer|DtoD|DtoA|AtoD|AtoA'),
    false
);

-- Whether a copy made the host wait.
--
-- `launch_name`: name of the call that launched the copy.
-- `way`: the copy's copy_kind.
-- `name`: name of the copy on the GPU.
-- `outlasts`: whether the call returned at or after the end of the copy.
CREATE OR REPLACE MACRO blocks_host(launch_name, way, name, outlasts) AS
CASE
    WHEN copies_synchronously(launch_name)
    THEN outlasts OR way NOT IN ('Memcpy DtoD', 'Memcpy PtoP')
    -- A copy into pageable memory is always synchronous, even if its call is named Async.
    WHEN way = 'Memcpy DtoH' AND contains(name, 'Pageable')
    THEN true
    -- The name says neither Pageable nor Pinned, so `outlasts` decides. For a copy into pinned
    -- memory, `outlasts` can be true by chance, so this copy never counts.
    WHEN way = 'Memcpy DtoH' AND NOT contains(name, 'Pinned')
    THEN outlasts
    ELSE false
END;
