-- Which calls of the runtime or driver make the host wait for a device.

-- A call that waits for a device, stream or event, by its name. Left out are calls that make a
-- stream wait (cudaStreamWaitEvent), calls that only ask (cudaEventQuery), and calls that may wait
-- in addition to their real work (cudaMalloc, cudaFree).
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

-- A copy whose call, by its name, returns only when the copy is done: cudaMemcpy, cuMemcpyDtoH_v2,
-- and also hipMemcpyWithStream. Between devices, even these do not wait for certain.
CREATE OR REPLACE MACRO copies_synchronously(name) AS
coalesce(
    regexp_matches(name, '^(cuda|cu|hip)Memcpy')
    AND NOT regexp_matches(name, 'Async|Peer|DtoD|DtoA|AtoD|AtoA'),
    false
);

-- Whether a copy made the host wait. `way` is its copy_kind. `outlasts`: the call that launched the
-- copy returned only after the copy had ended.
CREATE OR REPLACE MACRO blocks_host(launch_name, way, name, outlasts) AS
CASE
    WHEN copies_synchronously(launch_name)
    THEN outlasts OR way NOT IN ('Memcpy DtoD', 'Memcpy PtoP')
    -- A copy into pageable memory is not asynchronous, whatever the name of its call.
    WHEN way = 'Memcpy DtoH' AND contains(name, 'Pageable')
    THEN true
    -- The name does not say which memory. Into pinned memory, an end before the call's end is
    -- chance.
    WHEN way = 'Memcpy DtoH' AND NOT contains(name, 'Pinned')
    THEN outlasts
    ELSE false
END;
